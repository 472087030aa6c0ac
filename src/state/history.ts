import type { RowError } from '../inventory/change.ts';
import type { RunRecord } from '../inventory/run-records.ts';

export interface Intent {
  readonly row: number;
  readonly petId: bigint;
  /** By the monotonic clock: from then on the request can't be on its way any more. */
  readonly expires: number;
  /** The stock that an increment is added to now, and the sum: kept with the intent if it is granted. */
  readonly rebased?: { readonly before: number; readonly after: number } | undefined;
}

/** Somebody else is at a pet. */
export interface Busy {
  /** Its run; undefined while it has none yet. */
  readonly run: string | undefined;
  /** When the pet is free at the latest, if only a request of a process that is gone may still arrive. Undefined: its process lives. */
  readonly until: number | undefined;
}

export type Grant =
  | { readonly kind: 'granted' }
  /** Another run has written the pet since the mark, or may have; without `run` if it was removed from the history. */
  | { readonly kind: 'overtaken'; readonly run: string | undefined; readonly command: string }
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
  /** A request of it may still be on its way: the pet stays busy until it can't be. So it is with every `unknown`. */
  readonly mayStillArrive?: boolean | undefined;
}

export interface RunFilter {
  readonly env?: string | undefined;
  /** null: only those of the store without a name. */
  readonly store?: string | null | undefined;
  /** Runs that have a row for this pet. */
  readonly petId?: bigint | undefined;
  /** Runs that have a row with this `ref`. */
  readonly ref?: string | undefined;
  readonly user?: string | undefined;
  /** Milliseconds since the Unix epoch; runs that began then or later. */
  readonly since?: number | undefined;
  /** Milliseconds since the Unix epoch; runs that began then or earlier. */
  readonly until?: number | undefined;
  readonly state?: RunRecord['state'] | undefined;
  /** Runs of this user, or from this host. */
  readonly by?: { readonly user?: string | undefined; readonly host?: string | undefined } | undefined;
  /** At most so many; 1 or more. */
  readonly limit?: number | undefined;
}

/** Which rows; `since` and `until` are about when they were settled. */
export interface SettledFilter extends Pick<RunFilter, 'env' | 'store' | 'petId' | 'ref' | 'user' | 'since' | 'until'> {
  /** The `touched` of the last row that was given out. */
  readonly after?: number | undefined;
}

/** A pet as it was known. */
export interface PetBefore {
  readonly petId: bigint;
  /** Only what is older than this sequence counts; undefined: all that is known now. */
  readonly before?: number | undefined;
}
