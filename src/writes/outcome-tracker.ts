import { setMaxListeners } from 'node:events';
import { withServiceMessage } from '../api/failures.ts';
import type { RowError } from '../inventory/change.ts';
import type { InventoryItem } from '../inventory/items.ts';
import { FailureError, InterruptedError, PetstockError, RateLimitedError } from '../shared/errors.ts';
import { classifyFailure, conflictError, rowErrorOf } from './classify-failure.ts';
import type {
  FinalOutcome,
  QueuedRow,
  RowWrite,
  StockSnapshot,
  UnknownRow,
  WriteOptions,
  WriteProgress,
} from './row-write.ts';
import { recheck, type ZeroAllowance } from './verdict.ts';

const applied: FinalOutcome = { result: 'applied' };

/**
 * Records the outcomes of rows, in memory and in the log of the run. Ends the run if it is interrupted, if no other row
 * would succeed, or, with `failFast`, on the first row that does not succeed.
 */
export class OutcomeTracker implements WriteProgress {
  readonly settled = new Map<number, FinalOutcome>();
  readonly unknown = new Map<number, UnknownRow>();
  readonly notWritten = new Map<number, RowError>();
  readonly everUnknown = new Map<number, UnknownRow>();
  readonly everUnanswered = new Set<number>();
  firstFailure: PetstockError | undefined;
  stoppedBy: unknown;
  /** The last failure that left its row open, and the pet of that row. */
  lastFailure: unknown;
  lastFailedPet: bigint | undefined;
  /** The error of the last request, if that was refused with a 429. */
  #refusal: PetstockError | undefined;
  /** Numbers of failures in this round that left their rows open: in total, and since a response last settled a row. */
  failures = 0;
  consecutiveFailures = 0;
  /** Whether the stock can still be read after the error that ended the run. */
  isReadable = false;
  readonly #options: WriteOptions;
  readonly #zeros: ZeroAllowance;
  /** Aborted when the run ends; cancels the waits of rows that were not sent. */
  readonly #ending = new AbortController();

  constructor(options: WriteOptions) {
    this.#options = options;
    this.#zeros = { left: options.maxMoreZeros ?? Number.POSITIVE_INFINITY };
    setMaxListeners(0, this.#ending.signal);
    const { interrupted } = options;
    if (interrupted.aborted) this.stop(interrupted.reason);
    else interrupted.addEventListener('abort', this.#onInterrupt, { once: true });
  }

  /** True once the run has ended: nothing more is begun, but requests in flight are finished. */
  get ended(): boolean {
    return this.#ending.signal.aborted;
  }

  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  /**
   * Ends the run. Only the first cause is kept. If the wait after a 429 is too long, the error gets the service's
   * message.
   */
  stop(cause: unknown): void {
    const isTooLong = cause instanceof RateLimitedError && cause.status === undefined;
    this.stoppedBy ??= isTooLong && this.#refusal !== undefined ? withServiceMessage(this.#refusal, cause) : cause;
    this.#end();
  }

  beginRound(): void {
    this.failures = 0;
    this.consecutiveFailures = 0;
  }

  answered(write: RowWrite, { petId, quantity }: InventoryItem): void {
    if (petId !== write.petId) {
      this.failed(write, new FailureError(`The service returned pet ${petId}, not ${write.petId}`), 0);
      return;
    }
    this.consecutiveFailures = 0;
    this.#refusal = undefined;
    if (quantity === write.after) {
      this.applied(write, quantity);
      return;
    }
    const message = `the service set the stock to ${quantity}, not to ${write.after}`;
    this.firstFailure ??= new FailureError(`Pet ${petId}: ${message}`);
    const error = { code: 'unexpected_quantity', message };
    const rebased = write.delta === undefined ? undefined : write;
    this.settle(write, { result: 'differs', quantity, error, rebased }, quantity);
  }

  /** @param inFlightUntil when the request can no longer be in flight, by the monotonic clock */
  failed(write: RowWrite, cause: unknown, inFlightUntil: number): void {
    const { kind, stop, isReadable, mayBeInFlight } = classifyFailure(cause);
    this.#refusal = cause instanceof RateLimitedError ? cause : undefined;
    const error = rowErrorOf(cause);
    // A rejection does not settle a row if an earlier request of the row may have been carried out: a plain set is sent
    // again before the outcome of that request is known.
    const isDoubtful = this.everUnknown.has(write.row) && (kind === 'refused' || stop);
    if (kind === 'refused' && !isDoubtful) {
      this.consecutiveFailures = 0;
      if (cause instanceof PetstockError) this.firstFailure ??= cause;
      this.settle(write, { result: 'failed', error });
      return;
    }
    // A failure after the end of the run does not replace the one that ended it.
    if (!this.ended) {
      this.lastFailure = cause;
      this.lastFailedPet = write.petId;
    }
    this.failures += 1;
    this.consecutiveFailures += 1;
    if (kind === 'unknown' || isDoubtful) {
      this.everUnanswered.add(write.row);
      this.notWritten.delete(write.row);
      this.#unknown({ write, inFlightUntil: mayBeInFlight ? inFlightUntil : 0, error });
    } else {
      if (this.notWritten.has(write.row)) this.notWritten.set(write.row, error);
      this.notSent(write, error);
    }
    // An error of a row that was still waiting when the run ended is not why the run ended.
    if ((stop || isDoubtful) && !this.ended) {
      this.isReadable = isReadable;
      this.stop(cause);
    }
  }

  #unknown(unknown: UnknownRow): void {
    const { write, error } = unknown;
    this.everUnknown.set(write.row, unknown);
    this.unknown.set(write.row, unknown);
    this.#record({ row: write.row, petId: write.petId, result: 'unknown', error });
  }

  /**
   * Returns a row of unknown outcome to pending, because the stock shows that it was not written. Keeps the error of
   * its request.
   */
  refuted({ write, error }: UnknownRow): void {
    this.everUnknown.delete(write.row);
    this.notWritten.set(write.row, error);
    this.notSent(write, error);
  }

  /**
   * Returns a row with an intent to pending: it was certainly not carried out, or it is a plain set that is sent again.
   */
  notSent({ row, petId }: RowWrite, error?: FinalOutcome['error']): void {
    this.#record({ row, petId, result: 'void', error });
  }

  settle({ row, petId }: RowWrite, outcome: FinalOutcome, quantity?: number, mayBeInFlight?: boolean): void {
    const { result, error } = outcome;
    this.#record({ row, petId, result, quantity, error, mayBeInFlight });
    this.unknown.delete(row);
    this.notWritten.delete(row);
    this.settled.set(row, outcome);
    this.#options.onSettled(outcome);
    if (this.#options.failFast && result !== 'applied' && result !== 'unchanged') this.#end();
  }

  /**
   * @param mayBeInFlight whether a request of the row may still be in flight, although the stock has the wanted value
   */
  applied(write: RowWrite, quantity: number | undefined, mayBeInFlight?: boolean): void {
    // Most rows share one object, because a run may have a hundred thousand rows.
    const outcome = write.delta === undefined ? applied : { ...applied, rebased: write };
    this.settle(write, outcome, quantity, mayBeInFlight);
  }

  /** Records a conflict; the row is not sent (again). */
  conflict(write: RowWrite, message: string, found?: number): void {
    const error = conflictError(message, this.everUnanswered.has(write.row));
    this.settle(write, { result: 'conflict', error }, found);
  }

  /**
   * Returns the rows that may be sent, given the stock that was just read, with deltas added to that stock. Settles the
   * others.
   */
  recheck(rows: readonly RowWrite[], { quantities, ...basis }: StockSnapshot): readonly QueuedRow[] {
    return rows.flatMap((write): readonly QueuedRow[] => {
      const found = quantities.get(write.petId);
      const rechecked = recheck(write, quantities, this.#zeros);
      if (rechecked.kind === 'send') return [{ ...rechecked.write, basis }];
      if (rechecked.kind === 'unchanged') this.settle(write, { result: rechecked.kind }, found);
      else this.conflict(write, rechecked.message, found);
      return [];
    });
  }

  /** Marks as unknown every row that was to be resent and was not: its earlier request may have been carried out. */
  close(): void {
    for (const [row, unknown] of this.everUnknown) {
      if (!this.settled.has(row) && !this.unknown.has(row)) this.#unknown(unknown);
    }
    this.#options.interrupted.removeEventListener('abort', this.#onInterrupt);
  }

  #end(): void {
    this.#ending.abort(new InterruptedError('The run has ended'));
  }

  readonly #onInterrupt = (): void => this.stop(this.#options.interrupted.reason);

  #record(outcome: Parameters<WriteOptions['log']['settle']>[0][number]): void {
    this.#options.log.settle([outcome]);
  }
}
