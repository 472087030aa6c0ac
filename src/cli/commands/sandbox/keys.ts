import type { Command } from 'commander';
import type { Column, Row } from '../../../output/view.ts';
import type { Grant, KeyRecord } from '../../../service/index.ts';
import { NotFoundError, UsageError } from '../../../shared/errors.ts';
import type { Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { type LimitOptions, limitsOf, planOf, plans } from './numbers.ts';
import { type StoreChoice, withKeys, withStoreOptions } from './store-access.ts';

const columns: readonly Column[] = [
  { field: 'id', title: 'Id', whole: true },
  { field: 'plan', title: 'Plan' },
  { field: 'limitMinute', title: 'Per minute', align: 'right' },
  { field: 'limitDay', title: 'Per day', align: 'right' },
  { field: 'createdAt', title: 'Created' },
  { field: 'revokedAt', title: 'Revoked' },
];

function rowOf({ id, plan, limits, createdAt, revokedAt }: KeyRecord): Row {
  const { minute: limitMinute, day: limitDay } = limits;
  return { id, plan, limitMinute, limitDay, createdAt: timeOf(createdAt), revokedAt: timeOf(revokedAt) };
}

function timeOf(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}

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
