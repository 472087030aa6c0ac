import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import type { Column, Row } from '../../../output/view.ts';
import type { Grant, KeyRecord, Store } from '../../../service/index.ts';
import { NotFoundError, UsageError } from '../../../shared/errors.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { ownKey, sandboxFile } from '../../sandbox.ts';
import { examples, fieldsOption } from '../command.ts';
import { type LimitOptions, limitsOf, planOf, plans } from './numbers.ts';
import { chosenStore, type StoreChoice, withStore, withStoreOptions } from './store-access.ts';

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
        const { issueKey } = await import('../../../service/index.ts');
        const chosen = await chosenStore(invocation, options);
        const { key, record } = await withStore(invocation, chosen, (store) => issueKey(store, grant));
        await invocation.messages.note('This is the only time that the key is shown.');
        await invocation.results.print({
          shape: 'one',
          columns: [{ field: 'key', title: 'Key', whole: true }, ...columns],
          rows: [[{ key, ...rowOf(record) }]],
        });
      }),
    );
}

export function defineList(command: Command, run: Run): void {
  withStoreOptions(command)
    .description(
      'Lists all keys, oldest first, with revoked ones. None is shown: each has the id that it was issued with. Changes nothing.',
    )
    .option(...fieldsOption)
    .addHelpText('after', examples([['petstock sandbox keys list'], ['petstock sandbox keys list --json']]))
    .action(
      run<StoreChoice>(async (invocation, choice) => {
        const records = await lookAt(invocation, choice, (store) => store.keys(), []);
        await invocation.results.print({ shape: 'list', isWordy: true, columns, rows: [records.map(rowOf)] });
      }),
    );
}

export function defineRevoke(command: Command, run: Run): void {
  withStoreOptions(command)
    .description('Ends the validity of a key, at once and for good: requests with it are answered with 401.')
    .argument('<id>', 'as `sandbox keys list` shows it')
    .addHelpText('after', examples([['petstock sandbox keys revoke <id>']]))
    .action(
      run<StoreChoice>(async (invocation, choice, id = '') => {
        const hint = 'petstock sandbox keys list';
        const chosen = await chosenStore(invocation, choice);
        const { state } = invocation.context.folders;
        if ('file' in chosen && chosen.file === sandboxFile(state) && (await isOwnKey(state, id))) {
          throw new UsageError("This is the sandbox's own key, which `--env sandbox` needs", { hint });
        }
        const known = await lookAt(invocation, choice, (store) => store.keys(), []);
        if (!known.some((record) => record.id === id)) throw new NotFoundError(`There is no key ${id}`, { hint });
        const record = await withStore(invocation, chosen, (store) => store.revoke(id));
        await invocation.results.print({ shape: 'one', columns, rows: [record === null ? [] : [rowOf(record)]] });
      }),
    );
}

/** @param none the result for the sandbox's own store while there is none */
async function lookAt<Result>(
  invocation: Invocation,
  choice: StoreChoice,
  work: (store: Store) => Promise<Result>,
  none: Result,
): Promise<Result> {
  const chosen = await chosenStore(invocation, choice);
  if ('file' in chosen && !existsSync(chosen.file)) return none;
  return withStore(invocation, chosen, work, { onlyLooks: true });
}

async function isOwnKey(stateFolder: string, id: string): Promise<boolean> {
  const { idOfKey } = await import('../../../service/index.ts');
  const key = ownKey(stateFolder);
  return key !== undefined && idOfKey(key) === id;
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
