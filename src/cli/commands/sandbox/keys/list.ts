import type { Command } from 'commander';
import type { Run } from '../../../invocation/invocation.ts';
import { examples } from '../../command.ts';
import { withKeys } from '../key-ring.ts';
import { type StoreChoice, withStoreOptions } from '../store-access.ts';
import { columns, rowOf } from './view.ts';

export function defineList(command: Command, run: Run): void {
  withStoreOptions(command)
    .description(
      'Lists all keys, oldest first, with revoked ones. None is shown: each has the id that it was issued with.',
    )
    .addHelpText('after', examples([['petstock sandbox keys list'], ['petstock sandbox keys list --json']]))
    .action(
      run<StoreChoice>((invocation, choice) =>
        withKeys(invocation, choice, async ({ ring }) => {
          const records = await ring.list();
          await invocation.results.print({ shape: 'list', isWordy: true, columns, rows: [records.map(rowOf)] });
        }),
      ),
    );
}
