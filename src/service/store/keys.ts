import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { digestOf } from '../keys/key.ts';
import { type Admission, admit, type LimitRules } from '../limits/admission.ts';
import type { Database, Statement, Transactions } from './database.ts';
import type { Entitlement } from './store.ts';

interface KeyRow {
  readonly digest: Uint8Array;
  readonly minute_limit: bigint;
  readonly day_limit: bigint;
  readonly minute_start: bigint;
  readonly minute_used: bigint;
  readonly day_start: bigint;
  readonly day_used: bigint;
  readonly first_refusal_at: bigint | null;
  readonly strikes: bigint;
  readonly banned_until: bigint | null;
}

/** The keys with what they may use and have used. Each method is one transaction that holds the write lock. */
export class Keys {
  readonly #transactions: Transactions;
  readonly #find: Statement;
  readonly #insert: Statement;
  readonly #entitle: Statement;
  readonly #use: Statement;

  constructor(database: Database, transactions: Transactions) {
    this.#transactions = transactions;
    this.#find = database.prepare('SELECT * FROM keys WHERE digest = ?');
    this.#insert = database.prepare('INSERT INTO keys (digest, plan, minute_limit, day_limit) VALUES (?, ?, ?, ?)');
    this.#entitle = database.prepare('UPDATE keys SET plan = ?, minute_limit = ?, day_limit = ? WHERE digest = ?');
    this.#use = database.prepare(
      `UPDATE keys SET minute_start = ?, minute_used = ?, day_start = ?, day_used = ?,
       first_refusal_at = ?, strikes = ?, banned_until = ? WHERE digest = ?`,
    );
  }

  register(key: string, entitlement: Entitlement | undefined, otherwise: Entitlement): void {
    const digest = digestOf(key);
    const values = ({ plan, limits }: Entitlement) => [plan, limits.minute, limits.day];
    this.#transactions.immediate(() => {
      if (this.#row(digest) === undefined) this.#insert.run(digest, ...values(entitlement ?? otherwise));
      else if (entitlement !== undefined) this.#entitle.run(...values(entitlement), digest);
    });
  }

  /** The clock is read under the lock: then the order of the times is the order of the charges. */
  admit(key: string, rules: LimitRules, clock: Clock): Admission | null {
    const digest = digestOf(key);
    return this.#transactions.immediate(() => {
      const row = this.#row(digest);
      if (row === undefined) return null;
      const limits = { minute: row.minute_limit, day: row.day_limit };
      const admission = admit(usageOf(row), limits, rules, clock.now());
      const { minute, day, conduct } = admission.usage;
      const { firstRefusalAt, strikes, bannedUntil } = conduct;
      this.#use.run(minute.start, minute.used, day.start, day.used, firstRefusalAt, strikes, bannedUntil, digest);
      return admission;
    });
  }

  #row(digest: Uint8Array): KeyRow | undefined {
    const row: KeyRow | undefined = this.#find.get(digest);
    return row !== undefined && timingSafeEqual(row.digest, digest) ? row : undefined;
  }
}

function usageOf(row: KeyRow) {
  return {
    minute: { start: Number(row.minute_start), used: row.minute_used },
    day: { start: Number(row.day_start), used: row.day_used },
    conduct: {
      firstRefusalAt: row.first_refusal_at === null ? null : Number(row.first_refusal_at),
      strikes: Number(row.strikes),
      bannedUntil: row.banned_until === null ? null : Number(row.banned_until),
    },
  };
}
