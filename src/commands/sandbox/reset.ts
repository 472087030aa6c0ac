import type { Command } from 'commander';
import { removeSandbox } from '../../sandbox.ts';
import { examples } from '../command.ts';
import type { Run } from '../invocation.ts';
import { printInfo } from './info.ts';

export function registerReset(sandbox: Command, run: Run): void {
  sandbox
    .command('reset')
    .summary('throw the sandbox away and seed a fresh one')
    .description('Throws the stock of the sandbox away and seeds a fresh one. Its key stays.')
    .addHelpText('after', examples([['petstock sandbox reset']]))
    .action(
      run(async (invocation) => {
        removeSandbox(invocation.context.folders.state);
        await invocation.note('The sandbox has a fresh stock.');
        await printInfo(invocation);
      }),
    );
}
