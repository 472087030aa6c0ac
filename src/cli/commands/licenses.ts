import type { Command } from 'commander';
import type { Invocation, Run } from '../invocation/invocation.ts';
import { examples } from './command.ts';

export function defineLicenses(command: Command, run: Run): void {
  command
    .description('Prints the licences of petstock and of all the software that goes with it, as text.')
    .addHelpText('after', examples([['petstock licenses'], ['petstock licenses > LICENSES.txt']]))
    .action(run(printLicences));
}

async function printLicences({ context, results }: Invocation): Promise<void> {
  const text = await context.licences();
  if (results.wantsJson) {
    await results.print({ columns: [{ field: 'text', title: 'Text' }], rows: [[{ text }]], shape: 'one' });
  } else await results.write(text);
}
