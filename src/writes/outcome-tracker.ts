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

/** Notes what becomes of rows, in memory and in the log of the run, and ends the run if no other row would fare better. */
export class OutcomeTracker implements WriteProgress {
  readonly settled = new Map<number, FinalOutcome>();
  readonly unknown = new Map<number, UnknownRow>();
  readonly notWritten = new Map<number, RowError>();
  readonly everUnknown = new Map<number, UnknownRow>();
  readonly everUnanswered = new Set<number>();
  firstFailure: PetstockError | undefined;
  stoppedBy: unknown;
  /** The last failure that says nothing about its row, and the pet of that row. */
  lastFailure: unknown;
  lastFailedPet: bigint | undefined;
  /** The last answer, if that was a 429. */
  #refusal: PetstockError | undefined;
  /** Failures of that kind in this round, and those since its last answer. */
  failures = 0;
  consecutiveFailures = 0;
  /** The error that ended the run leaves the stock to be read. */
  isReadable = false;
  readonly #options: WriteOptions;
  readonly #zeros: ZeroAllowance;
  /** Aborted when the run ends: ends the waits of rows that have not left. */
  readonly #ending = new AbortController();

  constructor(options: WriteOptions) {
    this.#options = options;
    this.#zeros = { left: options.maxMoreZeros ?? Number.POSITIVE_INFINITY };
    setMaxListeners(0, this.#ending.signal);
    const { interrupted } = options;
    if (interrupted.aborted) this.stop(interrupted.reason);
    else interrupted.addEventListener('abort', this.#onInterrupt, { once: true });
  }

  /** Nothing more is begun; what is in flight is finished. */
  get ended(): boolean {
    return this.#ending.signal.aborted;
  }

  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  /** Ends the run. The first cause counts; a wait that is too long after a 429 is one in the words of that. */
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
      this.failed(write, new FailureError(`The service answered with pet ${petId}, not ${write.petId}`), 0);
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

  /**
   * One request of a row has failed.
   * @param inFlightUntil by the monotonic clock: when the request can't be on its way any more
   */
  failed(write: RowWrite, cause: unknown, inFlightUntil: number): void {
    const { kind, stop, isReadable, mayBeInFlight } = classifyFailure(cause);
    this.#refusal = cause instanceof RateLimitedError ? cause : undefined;
    const error = rowErrorOf(cause);
    // The service refuses now, but an earlier request of the row, which relies on no stock, may have been carried out.
    const isDoubtful = this.everUnknown.has(write.row) && (kind === 'refused' || stop);
    if (kind === 'refused' && !isDoubtful) {
      this.consecutiveFailures = 0;
      if (cause instanceof PetstockError) this.firstFailure ??= cause;
      this.settle(write, { result: 'failed', error });
      return;
    }
    this.lastFailure = cause;
    this.lastFailedPet = write.petId;
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
    // A row that was still waiting when the run ended is no cause of its own.
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

  /** The stock does not show the write of a row of unknown outcome: it is pending again, with what its request has failed with. */
  refuted({ write, error }: UnknownRow): void {
    this.everUnknown.delete(write.row);
    this.notWritten.set(write.row, error);
    this.notSent(write, error);
  }

  /** A row whose intent is written was certainly not carried out: it is pending again. */
  notSent({ row, petId }: RowWrite, error?: FinalOutcome['error']): void {
    this.#record({ row, petId, result: 'void', error });
  }

  settle({ row, petId }: RowWrite, settlement: FinalOutcome, quantity?: number, mayBeInFlight?: boolean): void {
    const { result, error } = settlement;
    this.#record({ row, petId, result, quantity, error, mayBeInFlight });
    this.unknown.delete(row);
    this.notWritten.delete(row);
    this.settled.set(row, settlement);
    this.#options.onSettled(settlement);
    if (this.#options.failFast && result !== 'applied' && result !== 'unchanged') this.#end();
  }

  /** @param mayBeInFlight the stock is as wanted, but a request of the row may be on its way */
  applied(write: RowWrite, quantity: number | undefined, mayBeInFlight?: boolean): void {
    // Most rows share one object: a hundred thousand of them are held.
    const settlement = write.delta === undefined ? applied : { ...applied, rebased: write };
    this.settle(write, settlement, quantity, mayBeInFlight);
  }

  /** Another run or command has written the pet: the row is not sent, or not again. */
  conflict(write: RowWrite, message: string, found?: number): void {
    const error = conflictError(message, this.everUnanswered.has(write.row));
    this.settle(write, { result: 'conflict', error }, found);
  }

  /** Returns the rows that may be sent on the stock that was just read. The others are settled by it. */
  recheck(rows: readonly RowWrite[], { quantities, ...basis }: StockSnapshot): readonly QueuedRow[] {
    return rows.flatMap((write): readonly QueuedRow[] => {
      const found = quantities.get(write.petId);
      const rechecked = recheck(write, quantities, this.#zeros);
      if (rechecked.kind === 'open') return [{ ...rechecked.write, basis }];
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
