import type { Command } from 'commander';
import { NotFoundError, UsageError } from '../../../../shared/errors.ts';
import type { Run } from '../../../invocation/invocation.ts';
import { examples } from '../../command.ts';
import { withKeys } from '../key-ring.ts';
import { type StoreChoice, withStoreOptions } from '../store-access.ts';
import { columns, rowOf } from './view.ts';

export function defineRevoke(command: Command, run: Run): void {
  withStoreOptions(command)
    .description('Ends the validity of a key, at once and for good: requests with it are answered with 401.')
    .argument('<id>', 'as `sandbox keys list` shows it')
    .addHelpText('after', examples([['petstock sandbox keys revoke <id>']]))
    .action(
      run<StoreChoice>((invocation, choice, id = '') =>
        withKeys(invocation, choice, async ({ ring, own }) => {
          if (id === own.record.id) {
            throw new UsageError("This is the sandbox's own key, which every start would register again", {
              hint: 'petstock sandbox keys list',
            });
          }
          const record = await ring.revoke(id);
          if (record === null) throw new NotFoundError(`There is no key ${id}`, { hint: 'petstock sandbox keys list' });
          await invocation.results.print({ shape: 'one', columns, rows: [[rowOf(record)]] });
        }),
      ),
    );
}
