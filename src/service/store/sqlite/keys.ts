import { timingSafeEqual } from 'node:crypto';
import { digestOf } from '../../keys/key.ts';
import { type Admission, admit, type LimitRules, type Limits, type Usage } from '../../limits/admission.ts';
import { type KeyRow, recordOf, registerSql, usageColumns, usageOf, usageValues } from '../rows.ts';
import type { Entitlement, KeyRecord, Registration } from '../store.ts';
import type { Prepare } from './database.ts';
import type { Participant } from './group-commit.ts';

/** A key that has made requests in the transaction under way. */
interface Account {
  readonly digest: Uint8Array;
  readonly limits: Limits;
  usage: Usage;
}

const BY_ID = 'lower(substr(hex(digest), 1, 12)) = ?';
const USE = `UPDATE keys SET ${usageColumns.map((column) => `${column} = ?`).join(', ')} WHERE digest = ?`;

/**
 * The keys with what they may use and have used. Everything here is called in a transaction that holds the write lock.
 * In one transaction a key is read once and written once, however many requests it makes.
 */
export class Keys implements Participant {
  readonly #accounts = new Map<string, Account>();
  readonly #sql: Prepare;

  constructor(sql: Prepare) {
    this.#sql = sql;
  }

  register(key: string, { plan, limits }: Entitlement, { keepsKnown, origin }: Registration, at: number): void {
    this.#settle();
    const register = this.#sql(registerSql('keys', '?', keepsKnown));
    register.run(bytesOf(digestOf(key)), plan, limits.minute, limits.day, origin ?? null, at);
  }

  revoke(id: string, at: number): KeyRecord | null {
    this.#settle();
    return this.#record(`UPDATE keys SET revoked_at = coalesce(revoked_at, ?) WHERE ${BY_ID} RETURNING *`, at, id);
  }

  changeUsage(id: string, change: (usage: Usage) => Usage): KeyRecord | null {
    this.#settle();
    const row: KeyRow | undefined = this.#sql(`SELECT * FROM keys WHERE ${BY_ID}`).get(id);
    if (row === undefined) return null;
    const usage = change(usageOf(row));
    this.#sql(USE).run(...usageValues(usage), row.digest);
    return { ...recordOf(row), usage };
  }

  list(): readonly KeyRecord[] {
    const rows: readonly KeyRow[] = this.#sql('SELECT * FROM keys ORDER BY created_at, digest').all();
    return rows.map(recordOf);
  }

  /** @param now read under the lock: then the order of the times is the order of the charges */
  admit(key: string, rules: LimitRules, now: number): Admission | null {
    const account = this.#account(digestOf(key));
    if (account === null) return null;
    const admission = admit(account.usage, account.limits, rules, now);
    account.usage = admission.usage;
    return admission;
  }

  flush(): void {
    for (const { digest, usage } of this.#accounts.values()) this.#sql(USE).run(...usageValues(usage), digest);
  }

  forget(): void {
    this.#accounts.clear();
  }

  /** Before the table is changed behind the accounts. */
  #settle(): void {
    this.flush();
    this.forget();
  }

  #record(statement: string, ...values: readonly (string | number)[]): KeyRecord | null {
    const row: KeyRow | undefined = this.#sql(statement).get(...values);
    return row === undefined ? null : recordOf(row);
  }

  #account(digest: string): Account | null {
    const open = this.#accounts.get(digest);
    if (open !== undefined) return open;
    const bytes = bytesOf(digest);
    const row: KeyRow | undefined = this.#sql('SELECT * FROM keys WHERE digest = ?').get(bytes);
    if (row === undefined || !timingSafeEqual(row.digest, bytes) || row.revoked_at !== null) return null;
    const limits = { minute: row.minute_limit, day: row.day_limit };
    const account = { digest: row.digest, limits, usage: usageOf(row) };
    this.#accounts.set(digest, account);
    return account;
  }
}

function bytesOf(digest: string): Uint8Array {
  return Buffer.from(digest, 'hex');
}
