import type { Command } from 'commander';
import type { Run } from '../../invocation/invocation.ts';
import { resetSandbox, sandboxPlan } from '../../sandbox.ts';
import { examples } from '../command.ts';
import { printInfo } from './info.ts';
import { withKeys } from './key-ring.ts';

export function defineReset(command: Command, run: Run): void {
  command
    .description(
      'Throws the stock of the sandbox away, seeds a fresh one, and forgets what was used of the limits. Keys stay; its own is a business key again.',
    )
    .addHelpText('after', examples([['petstock sandbox reset']]))
    .action(
      run(async (invocation) => {
        await resetSandbox(invocation.context);
        await withKeys(invocation, undefined, ({ ring, own }) =>
          ring.adopt(own.key, sandboxPlan, { keepsKnown: false }),
        );
        await invocation.messages.note('The sandbox has a fresh stock.');
        await printInfo(invocation);
      }),
    );
}
