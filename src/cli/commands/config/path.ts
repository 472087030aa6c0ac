import type { Command } from 'commander';
import { configFile } from '../../../settings/config-file.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';

const help = examples([['petstock config path'], ['ls -l "$(petstock config path)"']]);

export function definePath(command: Command, run: Run): void {
  command
    .description('Prints the path of the configuration file, which need not exist yet. PETSTOCK_CONFIG_DIR moves it.')
    .addHelpText('after', help)
    .action(run(printPath));
}

async function printPath(invocation: Invocation): Promise<void> {
  const path = configFile(invocation.context.folders.config);
  if (invocation.results.wantsJson) {
    await invocation.results.print({ columns: [{ field: 'path', title: 'Path' }], rows: [[{ path }]], shape: 'one' });
  } else {
    await invocation.results.write(`${path}\n`);
  }
}
