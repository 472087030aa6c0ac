import type { Client, ReadOptions } from '../api/client.ts';
import type { RowError } from '../inventory/change.ts';
import type { Quantities } from '../inventory/items.ts';
import type { PlannedRow, RecordedRow } from '../inventory/run-records.ts';
import type { Governor } from '../rate-limit/governor.ts';
import type { Permit } from '../rate-limit/permits.ts';
import type { Clock } from '../shared/clock.ts';
import type { PetstockError } from '../shared/errors.ts';
import type { ReadVersion } from '../state/decide.ts';
import type { PetLock } from '../state/pet-locks.ts';
import type { PetWrites } from '../state/pet-writes.ts';
import type { Presence } from '../state/presence.ts';
import type { RunLog } from '../state/run-log.ts';

/** One write of a run. `before` is the stock that it depends on; a plain set depends on none. */
export type RowWrite = Pick<PlannedRow, 'row' | 'petId' | 'before' | 'after' | 'delta'>;

/** A row to be sent, and the read of the stock that it depends on. Rows share the `basis` object to save memory. */
export interface QueuedRow extends RowWrite {
  readonly basis: ReadBasis;
}

export interface ReadBasis {
  /** The read version of the stock; undefined if no stock was read for the row. */
  readonly readVersion: ReadVersion | undefined;
  /**
   * When the stock was read, in milliseconds of the monotonic clock; `rereadRequired` if it must be read again before
   * the row is sent.
   */
  readonly readAt: number;
}

/** Maximum time that a write waits for another command that is changing the same pet's stock, in milliseconds. */
export const maxBusyWait = 90_000;

/** The `readAt` of a row whose stock must be read again. */
export const rereadRequired = Number.NEGATIVE_INFINITY;

/** Returns the row, marked so that its stock is read before it is sent. */
export function requireReread(queued: QueuedRow): QueuedRow {
  return { ...queued, basis: { ...queued.basis, readAt: rereadRequired } };
}

/** Reports whether a row depends on a stock that was read. */
export function dependsOnStock({ before, delta }: RowWrite): boolean {
  return before !== undefined || delta !== undefined;
}

export interface StockSnapshot {
  /** Pets that the service does not have, and pets whose stock is unreadable or outdated, are left out. */
  readonly quantities: Quantities;
  /** The read version, taken right before the stock was read. */
  readonly readVersion: ReadVersion;
  /** When the stock was read, in milliseconds of the monotonic clock. */
  readonly readAt: number;
}

export interface FinalOutcome {
  readonly result: 'applied' | 'unchanged' | 'failed' | 'conflict' | 'differs';
  /** The stock that the service wrote, if it differs from the requested one. */
  readonly quantity?: number | undefined;
  readonly error?: RowError | undefined;
  /** The row as it was sent, if it has a delta and was written: the stock may have changed since the plan. */
  readonly rebased?: RowWrite | undefined;
}

/** A row that was sent and whose outcome is not known. */
export interface UnknownRow {
  readonly write: RowWrite;
  /** When the row's request can no longer be in flight, by the monotonic clock; 0 if that is already the case. */
  readonly inFlightUntil: number;
  readonly error: RowError;
}

/** The outcomes of rows so far, by row number. */
export interface WriteProgress {
  readonly settled: ReadonlyMap<number, FinalOutcome>;
  readonly unknown: ReadonlyMap<number, UnknownRow>;
  /** Rows that were not written, as the stock read back shows, with the error of their last request. */
  readonly notWritten: ReadonlyMap<number, RowError>;
  /**
   * Rows that were sent with a request whose outcome was not known afterwards. Even if the stock does not show the
   * change, that request may still be carried out.
   */
  readonly everUnanswered: ReadonlySet<number>;
  /**
   * The first rejection, or response with another quantity than requested. It determines the exit code if nothing was
   * written and no error ended the run.
   */
  readonly firstFailure: PetstockError | undefined;
  /** Why the run ended before all rows were settled, if an error or an interruption ended it. */
  readonly stoppedBy: unknown;
}

export interface WriteOptions {
  readonly client: Pick<Client, 'updateInventory'>;
  readonly governor: Pick<Governor, 'admitSeveral'>;
  readonly log: Pick<RunLog, 'intend' | 'noteSending' | 'settle'>;
  /**
   * Returns, for each row, what other runs have written to its pet since its intent, or may have written, oldest first.
   * There are such writes only if this process was suspended for longer than its lease.
   */
  writesSince(rows: readonly Pick<RecordedRow, 'row' | 'petId'>[]): ReturnType<PetWrites['after']>;
  readonly presence: Pick<Presence, 'holdsLease'>;
  readStock(petIds: ReadonlySet<bigint>, read?: Pick<ReadOptions, 'permit' | 'beforeRetry'>): Promise<StockSnapshot>;
  readonly clock: Clock;
  random(): number;
  /** The stock that the rows depend on; undefined if they depend on none. */
  readonly stock: Pick<StockSnapshot, 'readVersion' | 'readAt'> | undefined;
  /** Timeout of one request in milliseconds. */
  readonly timeout: number;
  /** Maximum number of consecutive rounds without success, after the first, before the run gives up; default 4. */
  readonly retries?: number | undefined;
  /** If the wait for the rate limit takes longer than this, in milliseconds, the stock is read again. */
  readonly staleAfter: number;
  /** Maximum number of requests in flight. */
  readonly concurrency: number;
  /** Whether to send no further row after a row that did not succeed. */
  readonly failFast: boolean;
  /** How many deltas may bring a stock to 0 although the plan did not; undefined if any number may. */
  readonly maxMoreZeros?: number | undefined;
  readonly interrupted: AbortSignal;
  /** The permit of a single write that has read the stock, and its pet lock (released if it has waited since). */
  readonly reserved?: { readonly permit: Permit; readonly lock: PetLock } | undefined;
  onSettled(outcome: FinalOutcome): void;
  /** Shows why the run waits or why a row is sent again, as a sentence without its period. */
  onDelay(sentence: string, attempt?: number): Promise<void> | void;
}
