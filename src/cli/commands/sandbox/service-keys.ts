import { existsSync } from 'node:fs';
import type { Column, Row } from '../../../output/view.ts';
import type { KeyGrant, KeyRecord } from '../../../service/index.ts';
import { NotFoundError, UsageError } from '../../../shared/errors.ts';
import { flagWords, petstock } from '../../../shared/hint.ts';
import type { GlobalOptions } from '../../invocation/globals.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { ownKey } from '../../sandbox.ts';
import { define, fieldsOption } from '../define.ts';
import { limitsOf, plans, sandboxOptions, type Values } from './sandbox-options.ts';
import { chosenStorage, type StorageChoice, storageOptions, withStorage } from './storage-access.ts';

const columns: readonly Column[] = [
  { field: 'id', title: 'Id', whole: true },
  { field: 'plan', title: 'Plan' },
  { field: 'limitMinute', title: 'Per minute', align: 'right' },
  { field: 'limitDay', title: 'Per day', align: 'right' },
  { field: 'createdAt', title: 'Created' },
  { field: 'revokedAt', title: 'Revoked' },
  { field: 'name', title: 'Name' },
];

function rowOf({ id, plan, limits, createdAt, revokedAt, name }: KeyRecord): Row {
  const { minute: limitMinute, day: limitDay } = limits;
  return { id, plan, limitMinute, limitDay, createdAt: timeOf(createdAt), revokedAt: timeOf(revokedAt), name };
}

function timeOf(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}

type CreateOptions = StorageChoice & Pick<Values, 'plan' | 'limitMinute' | 'limitDay'> & { readonly name?: string };

export const defineCreate = define({
  description: 'Issues a key and shows it once: only its hash is stored.',
  options: [
    ...storageOptions,
    ...sandboxOptions(['plan', 'limitMinute', 'limitDay'], { plan: `plan of the key: ${plans.join(', ')}` }),
    ['--name <text>', 'name of the key in lists and metrics: 1 to 40 characters', readName],
  ],
  examples: [
    ['petstock sandbox keys create --plan pro --name "till 3"'],
    ['petstock sandbox keys create --limit-minute 5000 --limit-day 1000000 --json'],
  ],
  action: async (invocation, options: CreateOptions) => {
    const grant = grantOf(options);
    const { issueKey } = await import('../../../service/index.ts');
    const chosen = chosenStorage(invocation, options);
    const { key, record } = await withStorage(invocation, chosen, (storage) => issueKey(storage, grant, options.name));
    await invocation.messages.note('This is the only time that the key is shown.');
    await invocation.results.print({
      shape: 'one',
      columns: [{ field: 'key', title: 'Key', whole: true }, ...columns],
      rows: [[{ key, ...rowOf(record) }]],
    });
  },
});

export const defineList = define({
  description: 'Lists all keys, oldest first, including revoked ones. Shows their ids, not the keys. Changes nothing.',
  options: [...storageOptions, fieldsOption],
  examples: [['petstock sandbox keys list'], ['petstock sandbox keys list --json']],
  action: async (invocation, choice: StorageChoice & Pick<GlobalOptions, 'fields'>) => {
    const rows = (await keysIn(invocation, choice)).map(rowOf);
    await invocation.results.print({ shape: 'list', isWordy: true, columns, rows: [rows] });
  },
});

export const defineRevoke = define({
  operands: { '<id>': 'the id of the key, as sandbox keys list shows it' },
  description: 'Revokes a key, at once and for good: requests with it get a 401.',
  options: storageOptions,
  examples: [['petstock sandbox keys revoke <id>']],
  action: async (invocation, choice: StorageChoice, id = '') => {
    const hint = petstock`sandbox keys list ${flagWords({ file: choice.file })}`;
    // Any other word may be a key, so the message does not repeat it.
    if (!/^[0-9a-f]{12}$/.test(id)) {
      throw new UsageError('A key is revoked by its id, such as 0a1b2c3d4e5f. Nothing was revoked', { hint });
    }
    const chosen = chosenStorage(invocation, choice);
    const { idOfKey } = await import('../../../service/index.ts');
    const own = ownKey(invocation.context.folders.state);
    if ('file' in chosen && chosen.isOwn && own !== undefined && idOfKey(own) === id) {
      throw new UsageError("This is the sandbox's own key, and `--env sandbox` needs it. Nothing was revoked", {
        hint,
      });
    }
    const known = await keysIn(invocation, choice);
    if (!known.some((record) => record.id === id)) throw new NotFoundError(`There is no key ${id}`, { hint });
    const record = await withStorage(invocation, chosen, (storage) => storage.revoke(id));
    await invocation.results.print({ shape: 'one', columns, rows: [record === null ? [] : [rowOf(record)]] });
  },
});

/** @throws UsageError for a name that is not valid */
function readName(given: string): string {
  const name = given.trim();
  if (/^[^\p{C}]{1,40}$/u.test(name)) return name;
  throw new UsageError('--name takes 1 to 40 visible characters');
}

/** Returns the keys; none if the sandbox does not exist yet. */
async function keysIn(invocation: Invocation, choice: StorageChoice): Promise<readonly KeyRecord[]> {
  const chosen = chosenStorage(invocation, choice);
  if ('file' in chosen && !existsSync(chosen.file)) return [];
  return withStorage(invocation, chosen, (storage) => storage.keys(), { readOnly: true });
}

function grantOf(options: CreateOptions): KeyGrant {
  const limits = limitsOf(options);
  if (limits === undefined && options.plan !== undefined) return options.plan;
  if (limits !== undefined && options.plan === undefined) {
    return { minute: BigInt(limits.minute), day: BigInt(limits.day) };
  }
  const message =
    limits === undefined
      ? 'A key needs a plan, or limits of its own'
      : "--plan and limits of its own can't be used together. Leave one out";
  throw new UsageError(message, { hint: 'petstock sandbox keys create --plan pro' });
}
