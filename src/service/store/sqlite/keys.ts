import { timingSafeEqual } from 'node:crypto';
import { digestOf } from '../../keys/key.ts';
import { admit, type Limits, type Usage } from '../../limits/admission.ts';
import { type KeyRow, recordOf, registerSql, usageColumns, usageOf, usageValues } from '../rows.ts';
import type { KeyStore } from '../store.ts';
import { type Prepare, patiently } from './database.ts';
import type { GroupCommit, Participant } from './group-commit.ts';

/** A key that has made requests in the transaction under way. */
interface Account {
  readonly digest: Uint8Array;
  readonly limits: Limits;
  usage: Usage;
}

const BY_ID = 'lower(substr(hex(digest), 1, 12)) = ?';
const USE = `UPDATE keys SET ${usageColumns.map((column) => `${column} = ?`).join(', ')} WHERE digest = ?`;

/** In one transaction a key is read once and written once, however many requests it makes. */
export class Accounts implements Participant {
  readonly #open = new Map<string, Account>();

  constructor(private readonly sql: Prepare) {}

  /** Null: no such key, or a revoked one. */
  of(digest: string): Account | null {
    const open = this.#open.get(digest);
    if (open !== undefined) return open;
    const bytes = bytesOf(digest);
    const row: KeyRow | undefined = this.sql('SELECT * FROM keys WHERE digest = ?').get(bytes);
    if (row === undefined || !timingSafeEqual(row.digest, bytes) || row.revoked_at !== null) return null;
    const limits = { minute: row.minute_limit, day: row.day_limit };
    const account = { digest: row.digest, limits, usage: usageOf(row) };
    this.#open.set(digest, account);
    return account;
  }

  flush(): void {
    for (const { digest, usage } of this.#open.values()) this.sql(USE).run(...usageValues(usage), digest);
  }

  forget(): void {
    this.#open.clear();
  }
}

/** @param now read under the write lock: then the order of the times is the order of the charges */
export function sqliteKeys(sql: Prepare, accounts: Accounts, commits: GroupCommit, now: () => number): KeyStore {
  /** Does what changes the table behind the accounts. */
  const settled = <Result>(work: () => Result) =>
    commits.run(() => {
      accounts.flush();
      accounts.forget();
      return work();
    });
  return {
    register: (key, { plan, limits }, { keepsKnown, origin }) =>
      settled(() => {
        const register = sql(registerSql('keys', '?', keepsKnown));
        register.run(bytesOf(digestOf(key)), plan, limits.minute, limits.day, origin ?? null, now());
      }),
    revoke: (id) =>
      settled(() => {
        const revoke = `UPDATE keys SET revoked_at = coalesce(revoked_at, ?) WHERE ${BY_ID} RETURNING *`;
        const row: KeyRow | undefined = sql(revoke).get(now(), id);
        return row === undefined ? null : recordOf(row);
      }),
    keys: () =>
      patiently(() => {
        const rows: readonly KeyRow[] = sql('SELECT * FROM keys ORDER BY created_at, digest').all();
        return rows.map(recordOf);
      }),
    admit: (key, rules) =>
      commits.run(() => {
        const account = accounts.of(digestOf(key));
        if (account === null) return null;
        const admission = admit(account.usage, account.limits, rules, now());
        account.usage = admission.usage;
        return admission;
      }),
    changeUsage: (id, change) =>
      settled(() => {
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
