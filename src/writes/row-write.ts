import type { Client, ReadOptions } from '../api/client.ts';
import type { RowError } from '../inventory/change.ts';
import type { Quantities } from '../inventory/items.ts';
import type { PetIds } from '../inventory/pet-id-set.ts';
import type { PlannedRow, RecordedRow } from '../inventory/run-records.ts';
import type { Governor } from '../rate-limit/admission.ts';
import type { Permit } from '../rate-limit/governor.ts';
import type { Clock } from '../shared/clock.ts';
import type { PetstockError } from '../shared/errors.ts';
import type { ReadVersion } from '../state/decide.ts';
import type { PetWrites } from '../state/pet-writes.ts';
import type { Presence } from '../state/presence.ts';
import type { PetLock } from '../state/stored-pets.ts';
import type { RunLog } from '../state/stored-run-log.ts';

/** One write of a run. It relies on the stock `before`; without one it is a plain set, which relies on none. */
export type RowWrite = Pick<PlannedRow, 'row' | 'petId' | 'before' | 'after' | 'delta'>;

/** A row that is to be sent, and when the stock that it relies on was read. Rows share that: a hundred thousand are held. */
export interface QueuedRow extends RowWrite {
  readonly basis: ReadBasis;
}

export interface ReadBasis {
  /** The moment before the stock was read, in the order of all writes; undefined for a plain set. */
  readonly readVersion: ReadVersion | undefined;
  /** When it was read, in milliseconds of the monotonic clock; `rereadRequired`: it has to be read again before the row is sent. */
  readonly readAt: number;
}

/** How long a write waits for another command that is at its pet, in milliseconds. */
export const maxBusyWait = 90_000;

/** `readAt` of a row whose stock has to be read again. */
export const rereadRequired = Number.NEGATIVE_INFINITY;

/** Returns the row so that its stock is read before it is sent. */
export function requireReread(queued: QueuedRow): QueuedRow {
  return { ...queued, basis: { ...queued.basis, readAt: rereadRequired } };
}

/** Reports whether a row relies on a stock that was read. */
export function dependsOnStock({ before, delta }: RowWrite): boolean {
  return before !== undefined || delta !== undefined;
}

/** The stock of some pets. */
export interface StockSnapshot {
  /** A pet that the service does not have is missing. */
  readonly quantities: Quantities;
  /** The moment before it was read, in the order of all writes of this state. */
  readonly readVersion: ReadVersion;
  /** When it was read: milliseconds of the monotonic clock. */
  readonly readAt: number;
}

/** The final outcome of a row. */
export interface FinalOutcome {
  readonly result: 'applied' | 'unchanged' | 'failed' | 'conflict' | 'differs';
  /** The stock that the service wrote, if it is not the one that was asked for. */
  readonly quantity?: number | undefined;
  readonly error?: RowError | undefined;
  /** The row as it was sent, if its stock had moved since the plan. */
  readonly rebased?: RowWrite | undefined;
}

/** A row that was sent, and of which it is not known whether it was written. */
export interface UnknownRow {
  readonly write: RowWrite;
  /** By the monotonic clock: until then its request may still arrive; 0 if it can't any more. */
  readonly inFlightUntil: number;
  readonly error: RowError;
}

/** The outcomes of the rows so far, by their number. */
export interface WriteProgress {
  readonly settled: ReadonlyMap<number, FinalOutcome>;
  readonly unknown: ReadonlyMap<number, UnknownRow>;
  /** Rows that were sent and definitely not written, by what their last request has failed with: they are pending as before. */
  readonly notWritten: ReadonlyMap<number, RowError>;
  /** Rows of which a request has left and got no answer that says what became of it: what the stock did not show may still come. */
  readonly everUnanswered: ReadonlySet<number>;
  /** The first failure of a row, for the exit code. */
  readonly firstFailure: PetstockError | undefined;
  /** Why it ended before all rows were settled, if a failure ended it. */
  readonly stoppedBy: unknown;
}

export interface WriteOptions {
  readonly client: Pick<Client, 'updateInventory'>;
  readonly governor: Pick<Governor, 'admitSeveral'>;
  readonly log: Pick<RunLog, 'intend' | 'leaves' | 'settle'>;
  /** Returns what other runs have written of the pets of rows since their intents: this process may have been stopped for long. */
  writesSince(rows: readonly Pick<RecordedRow, 'row' | 'petId'>[]): ReturnType<PetWrites['after']>;
  readonly presence: Pick<Presence, 'holdsLease'>;
  readStock(petIds: PetIds, read?: Pick<ReadOptions, 'permit' | 'beforeRetry'>): Promise<StockSnapshot>;
  readonly clock: Clock;
  random(): number;
  /** The stock that the rows rely on; undefined: they rely on none. */
  readonly stock: Pick<StockSnapshot, 'readVersion' | 'readAt'> | undefined;
  /** Of one request, in milliseconds. */
  readonly timeout: number;
  /** How many rounds in a row may come to nothing before the run gives up, besides the first; default 4. */
  readonly retries?: number | undefined;
  /** After a longer wait for the limit, in milliseconds, the stock is read again. */
  readonly staleAfter: number;
  /** Requests in flight at once. */
  readonly concurrency: number;
  /** Begin no row after one that was not applied. */
  readonly failFast: boolean;
  /** How many increments may come to 0 though the plan had them above; undefined: any number. */
  readonly maxMoreZeros?: number | undefined;
  readonly interrupted: AbortSignal;
  /** For a single write that has read the stock under its own admission and lease. */
  readonly reserved?: { readonly permit: Permit; readonly lock: PetLock } | undefined;
  /** Called after each row that is settled. */
  onSettled(settlement: FinalOutcome): void;
  /** Takes a sentence about what is waited for, or why a row is sent again, without its period. */
  onDelay(sentence: string, attempt?: number): Promise<void> | void;
}
