import { timingSafeEqual } from 'node:crypto';
import { digestOf } from '../../keys/key.ts';
import type { Limits } from '../../limits/admission.ts';
import { type Admission, admit, type LimitRules, type Usage } from '../../limits/admission.ts';
import { idOf, type KeyRow, recordOf, usageOf } from '../key-row.ts';
import type { Entitlement, KeyRecord, Registration } from '../store.ts';
import type { Database, Statement } from './database.ts';
import type { Participant } from './group-commit.ts';

/** A key that has made requests in the transaction under way. */
interface Account {
  readonly digest: Uint8Array;
  readonly limits: Limits;
  usage: Usage;
}

/**
 * The keys with what they may use and have used. Everything here is called in a transaction that holds the write lock.
 * In one transaction a key is read once and written once, however many requests it makes.
 */
export class Keys implements Participant {
  readonly #accounts = new Map<string, Account>();
  readonly #find: Statement;
  readonly #list: Statement;
  readonly #insert: Statement;
  readonly #entitle: Statement;
  readonly #revoke: Statement;
  readonly #use: Statement;

  constructor(database: Database) {
    this.#find = database.prepare('SELECT * FROM keys WHERE digest = ?');
    this.#list = database.prepare('SELECT * FROM keys ORDER BY created_at, digest');
    this.#insert = database.prepare(
      'INSERT INTO keys (digest, plan, minute_limit, day_limit, created_at, origin) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.#entitle = database.prepare('UPDATE keys SET plan = ?, minute_limit = ?, day_limit = ? WHERE digest = ?');
    this.#revoke = database.prepare('UPDATE keys SET revoked_at = coalesce(revoked_at, ?) WHERE digest = ?');
    this.#use = database.prepare(
      `UPDATE keys SET minute_start = ?, minute_length = ?, minute_used = ?, day_start = ?, day_used = ?,
       first_refusal_at = ?, strikes = ?, banned_until = ? WHERE digest = ?`,
    );
  }

  register(key: string, { plan, limits }: Entitlement, { keepsKnown, origin }: Registration, at: number): void {
    this.#settle();
    const row = this.#row(digestOf(key));
    if (row === undefined)
      this.#insert.run(bytesOf(digestOf(key)), plan, limits.minute, limits.day, at, origin ?? null);
    else if (!keepsKnown) this.#entitle.run(plan, limits.minute, limits.day, row.digest);
  }

  revoke(id: string, at: number): KeyRecord | null {
    this.#settle();
    const row = this.#byId(id);
    if (row === undefined) return null;
    this.#revoke.run(at, row.digest);
    const record = recordOf(row);
    return { ...record, revokedAt: record.revokedAt ?? at };
  }

  changeUsage(id: string, change: (usage: Usage) => Usage): KeyRecord | null {
    this.#settle();
    const row = this.#byId(id);
    if (row === undefined) return null;
    const usage = change(usageOf(row));
    this.#write(row.digest, usage);
    return { ...recordOf(row), usage };
  }

  list(): readonly KeyRecord[] {
    return this.#rows().map(recordOf);
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
    for (const { digest, usage } of this.#accounts.values()) this.#write(digest, usage);
  }

  forget(): void {
    this.#accounts.clear();
  }

  /** Before the table is changed behind the accounts. */
  #settle(): void {
    this.flush();
    this.forget();
  }

  #write(digest: Uint8Array, { minute, day, conduct }: Usage): void {
    const { firstRefusalAt, strikes, bannedUntil } = conduct;
    const windows = [minute.start, minute.length, minute.used, day.start, day.used];
    this.#use.run(...windows, firstRefusalAt, strikes, bannedUntil, digest);
  }

  #byId(id: string): KeyRow | undefined {
    return this.#rows().find((known) => idOf(known) === id);
  }

  #account(digest: string): Account | null {
    const open = this.#accounts.get(digest);
    if (open !== undefined) return open;
    const row = this.#row(digest);
    if (row === undefined || row.revoked_at !== null) return null;
    const limits = { minute: row.minute_limit, day: row.day_limit };
    const account = { digest: row.digest, limits, usage: usageOf(row) };
    this.#accounts.set(digest, account);
    return account;
  }

  #row(digest: string): KeyRow | undefined {
    const bytes = bytesOf(digest);
    const row: KeyRow | undefined = this.#find.get(bytes);
    return row !== undefined && timingSafeEqual(row.digest, bytes) ? row : undefined;
  }

  #rows(): KeyRow[] {
    return this.#list.all();
  }
}

function bytesOf(digest: string): Uint8Array {
  return Buffer.from(digest, 'hex');
}
