import type { Command } from 'commander';
import type { Grant } from '../../../../service/index.ts';
import { UsageError } from '../../../../shared/errors.ts';
import type { Run } from '../../../invocation/invocation.ts';
import { examples } from '../../command.ts';
import { withKeys } from '../key-ring.ts';
import { type LimitOptions, limitsOf, planOf, plans } from '../numbers.ts';
import { type StoreChoice, withStoreOptions } from '../store-access.ts';
import { columns, rowOf } from './view.ts';

interface CreateOptions extends LimitOptions, StoreChoice {
  readonly plan?: string;
}

export function defineCreate(command: Command, run: Run): void {
  withStoreOptions(command)
    .description('Issues a key and shows it, this once: only its hash is kept.')
    .option('--plan <plan>', plans.join(', '))
    .option('--limit-minute <n>', 'requests per minute, for an enterprise key')
    .option('--limit-day <n>', 'requests per day, for an enterprise key')
    .addHelpText(
      'after',
      examples([
        ['petstock sandbox keys create --plan pro'],
        ['petstock sandbox keys create --limit-minute 5000 --limit-day 1000000 --json'],
      ]),
    )
    .action(
      run<CreateOptions>(async (invocation, options) => {
        const grant = grantOf(options);
        await withKeys(invocation, options, async ({ ring }) => {
          const { key, record } = await ring.create(grant);
          await invocation.messages.note('This is the only time that the key is shown.');
          await invocation.results.print({
            shape: 'one',
            columns: [{ field: 'key', title: 'Key', whole: true }, ...columns],
            rows: [[{ key, ...rowOf(record) }]],
          });
        });
      }),
    );
}

function grantOf(options: CreateOptions): Grant {
  const limits = limitsOf(options);
  if (limits === undefined && options.plan !== undefined) return planOf(options.plan);
  if (limits !== undefined && options.plan === undefined) {
    return { minute: BigInt(limits.minute), day: BigInt(limits.day) };
  }
  const message =
    limits === undefined ? 'A key needs a plan' : '--plan and limits of its own cannot be used together; leave one out';
  throw new UsageError(message, { hint: 'petstock sandbox keys create --plan pro' });
}
