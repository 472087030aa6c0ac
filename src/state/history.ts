import type { RowError } from '../inventory/change.ts';

export interface Intent {
  readonly row: number;
  readonly petId: bigint;
  /** By the monotonic clock: from then on the request can't be on its way any more. */
  readonly inFlightUntil: number;
  /** The stock that an increment is added to now, and the sum: kept with the intent if it is granted. */
  readonly rebased?: { readonly before: number; readonly after: number } | undefined;
}

/** Another run or process is writing the pet. */
export interface Busy {
  /** Its run; undefined while it has none yet. */
  readonly run: string | undefined;
  /** When the pet is free at the latest, if only a request of a process that is gone may still arrive. Undefined: its process lives. */
  readonly until: number | undefined;
}

export type Grant =
  | { readonly kind: 'granted' }
  /** Another run has written the pet since the mark, or may have; without `run` if it was removed from the history. */
  | { readonly kind: 'superseded'; readonly run: string | undefined; readonly command: string }
  | ({ readonly kind: 'busy' } & Busy);

/** The outcome of a row. */
export interface Outcome {
  readonly row: number;
  readonly petId: bigint;
  /**
   * - `unchanged`: the stock was what was wanted already; nothing was sent
   * - `differs`: the service wrote `quantity`, not what was asked for
   * - `unknown`: it was sent, and whether it was carried out is not known
   * - `void`: for certain it was not carried out, and may be sent (again): the row is pending as before
   */
  readonly result: 'applied' | 'unchanged' | 'failed' | 'conflict' | 'differs' | 'unknown' | 'void';
  /** The stock that the service answered, or that was found when somebody looked. */
  readonly quantity?: number | undefined;
  readonly error?: RowError | undefined;
  /**
   * A request of the row may still be in flight. The pet stays locked until none can be. Always the case for `unknown`.
   */
  readonly mayBeInFlight?: boolean | undefined;
}

/** What the process of a run knows of one of its rows. */
export interface KnownRow {
  readonly outcome: Outcome;
  /** The stock that an increment was added to, and the sum. */
  readonly rebased: Intent['rebased'];
}
