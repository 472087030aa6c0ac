import { timingSafeEqual } from 'node:crypto';
import { keyIdOf } from '../keys/key.ts';
import { type Admission, admit, DAY_MS, type LimitRules, NEVER, type Usage } from '../limits/admission.ts';
import type { KeyRecord } from './storage.ts';

/** A row of the table of keys. Every integer is a bigint. */
export interface KeyRow {
  readonly digest: Uint8Array;
  readonly plan: string;
  readonly minute_limit: bigint;
  readonly day_limit: bigint;
  readonly created_at: bigint;
  readonly revoked_at: bigint | null;
  readonly origin: string | null;
  readonly name: string | null;
  readonly minute_start: bigint;
  readonly minute_length: bigint;
  readonly minute_used: bigint;
  readonly day_start: bigint;
  readonly day_used: bigint;
  readonly first_refusal_at: bigint | null;
  readonly strikes: bigint;
  readonly banned_until: bigint | null;
}

export function recordOf(row: KeyRow): KeyRecord {
  return {
    id: keyIdOf(digestIn(row)),
    plan: row.plan,
    limits: { minute: row.minute_limit, day: row.day_limit },
    createdAt: Number(row.created_at),
    revokedAt: numberOf(row.revoked_at),
    origin: row.origin,
    name: row.name,
    usage: usageOf(row),
  };
}

/**
 * Returns the statement that registers a key. Its values are the digest, plan, limits per minute and day, origin and
 * name.
 * @param now an SQL expression; with `?`, the time is one more value
 * @param keepsKnown whether a known key keeps its plan and limits
 */
export function registerSql(table: string, now: string, keepsKnown: boolean): string {
  const changed = 'plan = excluded.plan, minute_limit = excluded.minute_limit, day_limit = excluded.day_limit';
  return `INSERT INTO ${table} AS known (digest, plan, minute_limit, day_limit, origin, name, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ${now}) ON CONFLICT (digest) DO UPDATE SET ${keepsKnown ? 'plan = known.plan' : changed} RETURNING *`;
}

export const clearUsageSql = (table: string) => `
  UPDATE ${table} SET minute_start = -1, minute_length = 0, minute_used = 0, day_start = -1, day_used = 0,
    first_refusal_at = NULL, strikes = 0, banned_until = NULL`;

export function usageOf(row: KeyRow): Usage {
  return {
    minute: { start: Number(row.minute_start), length: Number(row.minute_length), used: row.minute_used },
    day: row.day_start < 0n ? NEVER : { start: Number(row.day_start), length: DAY_MS, used: row.day_used },
    conduct: {
      firstRefusalAt: numberOf(row.first_refusal_at),
      strikes: Number(row.strikes),
      bannedUntil: numberOf(row.banned_until),
    },
  };
}

/** Returns the digest of a key, in hex. */
export function digestIn({ digest }: Pick<KeyRow, 'digest'>): string {
  return Buffer.from(digest).toString('hex');
}

/** A request and the digest of its key, in hex. */
export interface Asked {
  readonly digest: string;
  readonly rules: LimitRules;
}

/**
 * Decides requests one after another, each with the usage that the previous ones leave. A key is read once and written
 * once, however many requests it has.
 * @param rows the rows of the valid keys
 * @returns the decision for each request, null without a valid key, and the usages to write
 */
export function decideAll<Row extends KeyRow>(asked: readonly Asked[], rows: readonly Row[], now: number) {
  const accounts = new Map(rows.map((row) => [digestIn(row), { row, usage: usageOf(row) }]));
  const decided = asked.map(({ digest, rules }): Admission | null => {
    const account = accounts.get(digest);
    if (account === undefined || !timingSafeEqual(account.row.digest, Buffer.from(digest, 'hex'))) return null;
    const limits = { minute: account.row.minute_limit, day: account.row.day_limit };
    const admission = admit(account.usage, limits, rules, now);
    account.usage = admission.usage;
    return admission;
  });
  return { decided, usages: [...accounts.values()] };
}

function numberOf(value: bigint | null): number | null {
  return value === null ? null : Number(value);
}

/** The columns of a usage, in the order of `usageValues`. */
export const usageColumns =
  'minute_start minute_length minute_used day_start day_used first_refusal_at strikes banned_until'.split(' ');

export const keyColumns = [
  ...'digest plan minute_limit day_limit created_at revoked_at origin name'.split(' '),
  ...usageColumns,
];

export function usageValues({ minute, day, conduct }: Usage): readonly (bigint | number | null)[] {
  const { firstRefusalAt, strikes, bannedUntil } = conduct;
  return [minute.start, minute.length, minute.used, day.start, day.used, firstRefusalAt, strikes, bannedUntil];
}

/** Maximum number of pets per page: about 50 KiB of text. */
export const PAGE = 1_000;

export const SMALLEST_ID = -(2n ** 63n);
const LARGEST_ID = 2n ** 63n - 1n;

export interface Page {
  readonly pets: bigint;
  /** Null for an empty page, like the text. */
  readonly last_id: bigint | null;
  /** The JSON of the page's items, separated by commas. */
  readonly text: string | null;
}

/** Returns the statement that reads the page from an id on. @param joined an aggregate of `item` */
export function pageSql(table: string, joined: string): string {
  return `SELECT count(*) AS pets, max(id) AS last_id, ${joined} AS text FROM (
    SELECT id, '{"petId":' || id || ',"quantity":' || quantity || ',"status":"' || status || '"}' AS item
    FROM ${table} WHERE id >= ? ORDER BY id LIMIT ${PAGE}) AS page`;
}

/** Returns the first id of the next page; null after the last page. */
export function nextPage({ pets, last_id: last }: Page): bigint | null {
  return pets < PAGE || last === null || last === LARGEST_ID ? null : last + 1n;
}

/** Milliseconds for which a successful test change proves that changes can be committed, unless one fails. */
export const PROOF_MS = 5_000;
