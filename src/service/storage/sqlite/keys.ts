import { digestOf } from '../../keys/key.ts';
import { RequestBatcher } from '../request-batcher.ts';
import {
  type Asked,
  decideAll,
  type KeyRow,
  recordOf,
  registerSql,
  usageColumns,
  usageOf,
  usageValues,
} from '../rows.ts';
import type { KeyStorage } from '../storage.ts';
import { type Prepare, retryWhileBusy } from './database.ts';
import type { GroupCommit } from './group-commit.ts';

const BY_ID = 'lower(substr(hex(digest), 1, 12)) = ?';
const VALID = 'SELECT * FROM keys WHERE digest = ? AND revoked_at IS NULL';
const USE = `UPDATE keys SET ${usageColumns.map((column) => `${column} = ?`).join(', ')} WHERE digest = ?`;

/** @param now called under the write lock, so that times and charges have the same order */
export function sqliteKeys(
  sql: Prepare,
  commits: GroupCommit,
  now: () => number,
): KeyStorage & { idle(): Promise<void> } {
  const admissions = new RequestBatcher((asked: readonly Asked[]) =>
    commits.run(() => {
      const digests = [...new Set(asked.map(({ digest }) => digest))];
      const rows = digests.flatMap((digest): KeyRow[] => sql(VALID).get(bytesOf(digest)) ?? []);
      const { decided, usages } = decideAll(asked, rows, now());
      for (const { row, usage } of usages) sql(USE).run(...usageValues(usage), row.digest);
      return decided;
    }),
  );
  return {
    idle: () => admissions.idle(),
    register: (key, { plan, limits }, { keepsKnown, origin = null, name = null }) =>
      commits.run(() => {
        const register = sql(registerSql('keys', '?', keepsKnown));
        return recordOf(register.get(bytesOf(digestOf(key)), plan, limits.minute, limits.day, origin, name, now()));
      }),
    revoke: (id) =>
      commits.run(() => {
        const revoke = `UPDATE keys SET revoked_at = coalesce(revoked_at, ?) WHERE ${BY_ID} RETURNING *`;
        const row: KeyRow | undefined = sql(revoke).get(now(), id);
        return row === undefined ? null : recordOf(row);
      }),
    keys: () =>
      retryWhileBusy(() => {
        const rows: readonly KeyRow[] = sql('SELECT * FROM keys ORDER BY created_at, digest').all();
        return rows.map(recordOf);
      }),
    admit: (key, rules) => admissions.run({ digest: digestOf(key), rules }),
    changeUsage: (id, change) =>
      commits.run(() => {
        const row: KeyRow | undefined = sql(`SELECT * FROM keys WHERE ${BY_ID}`).get(id);
        if (row === undefined) return null;
        const usage = change(usageOf(row), now());
        sql(USE).run(...usageValues(usage), row.digest);
        return { ...recordOf(row), usage };
      }),
  };
}

function bytesOf(digest: string): Uint8Array {
  return Buffer.from(digest, 'hex');
}
