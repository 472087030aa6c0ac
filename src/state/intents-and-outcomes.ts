import type { RowError } from '../inventory/change.ts';

export interface Intent {
  readonly row: number;
  readonly petId: bigint;
  /**
   * The time from which the request can no longer be in flight, by the monotonic clock (by the state's clock within a
   * transaction).
   */
  readonly inFlightUntil: number;
  /** The stock that the delta is now added to, and the sum; stored once the intent is granted. */
  readonly rebased?: Rebased | undefined;
}

export interface Rebased {
  readonly before: number;
  readonly after: number;
}

/** The run or process that keeps a pet locked. */
export interface Busy {
  /** The run that blocks the pet; undefined for a pet lock, and for a run that has no id yet. */
  readonly run: string | undefined;
  /**
   * When the pet is free at the latest, if only a request of a dead process may still arrive, by the same clock as
   * `Intent.inFlightUntil`; undefined while the process is alive.
   */
  readonly until: number | undefined;
}

export type Grant =
  | { readonly kind: 'granted' }
  /**
   * Another run has written the stock since the read version, or may have. `run` is undefined if that run was removed
   * from the history.
   */
  | { readonly kind: 'superseded'; readonly run: string | undefined; readonly command: string }
  | ({ readonly kind: 'busy' } & Busy);

export interface Outcome {
  readonly row: number;
  readonly petId: bigint;
  /**
   * - `unchanged`: the stock already had the wanted value, so the row was not written
   * - `differs`: the service wrote `quantity` instead of the requested value
   * - `unknown`: the row was sent, and it is not known whether it was carried out
   * - `void`: the row is pending again, because it was certainly not carried out, or is a plain set that is sent again
   */
  readonly result: 'applied' | 'unchanged' | 'failed' | 'conflict' | 'differs' | 'unknown' | 'void';
  /** The stock that the service returned for the write, or that was read before or after it. */
  readonly quantity?: number | undefined;
  readonly error?: RowError | undefined;
  /**
   * Whether a request of the row may still be in flight, so that the pet stays locked; always the case for `unknown`.
   */
  readonly mayBeInFlight?: boolean | undefined;
}

/** Everything that a process knows about the rows of its run, by row number. */
export interface KnownRows {
  readonly outcomes: ReadonlyMap<number, Outcome>;
  readonly rebased: ReadonlyMap<number, Rebased>;
  /** Whether this process began the run: then a row without an outcome was never sent. */
  readonly isWhole: boolean;
}
