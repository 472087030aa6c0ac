import { keyIdOf } from '../keys/key.ts';
import type { Usage } from '../limits/admission.ts';
import { DAY_MS, NEVER } from '../limits/window.ts';
import type { KeyRecord } from './store.ts';

/** A row of the table of keys: every integer is a bigint. */
export interface KeyRow {
  readonly digest: Uint8Array;
  readonly plan: string;
  readonly minute_limit: bigint;
  readonly day_limit: bigint;
  readonly created_at: bigint;
  readonly revoked_at: bigint | null;
  readonly origin: string | null;
  readonly minute_start: bigint;
  readonly minute_length: bigint;
  readonly minute_used: bigint;
  readonly day_start: bigint;
  readonly day_used: bigint;
  readonly first_refusal_at: bigint | null;
  readonly strikes: bigint;
  readonly banned_until: bigint | null;
}

export function idOf(row: KeyRow): string {
  return keyIdOf(Buffer.from(row.digest).toString('hex'));
}

export function recordOf(row: KeyRow): KeyRecord {
  return {
    id: idOf(row),
    plan: row.plan,
    limits: { minute: row.minute_limit, day: row.day_limit },
    createdAt: Number(row.created_at),
    revokedAt: numberOf(row.revoked_at),
    origin: row.origin,
    usage: usageOf(row),
  };
}

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

function numberOf(value: bigint | null): number | null {
  return value === null ? null : Number(value);
}
