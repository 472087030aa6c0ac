import type { Command } from 'commander';
import type { Run } from '../../../invocation/invocation.ts';
import { examples } from '../../command.ts';
import { withKeys } from '../key-ring.ts';
import { columns, fileOption, rowOf } from './view.ts';

export function defineList(command: Command, run: Run): void {
  command
    .description(
      'Lists all keys, oldest first, with revoked ones. None is shown: each has the id that it was issued with.',
    )
    .option(...fileOption)
    .addHelpText('after', examples([['petstock sandbox keys list'], ['petstock sandbox keys list --json']]))
    .action(
      run<{ file?: string }>((invocation, { file }) =>
        withKeys(invocation, file, async ({ ring }) => {
          const records = await ring.list();
          await invocation.results.print({ shape: 'list', isWordy: true, columns, rows: [records.map(rowOf)] });
        }),
      ),
    );
}
