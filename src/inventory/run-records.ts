import type { RowError } from './change.ts';

export interface RunHead {
  /** The command, like `inventory set`, `inventory count` or `undo`. */
  readonly command: string;
  readonly env: string;
  /** The name of the store; undefined for the store without a name. */
  readonly store: string | undefined;
  readonly baseUrl: string;
  /** The canonical name of the service, from `serviceNameOf`. It does not depend on how the URL is spelled. */
  readonly service: string;
  /** A hash that distinguishes keys; never the key. */
  readonly scope: string;
  readonly user: string | undefined;
  readonly host: string;
  readonly pid: number;
  /** The name of the applied file, as the user gave it; `-` is stdin. */
  readonly file?: string | undefined;
  /** SHA-256 in hex of the rows of that file, in any order. */
  readonly contentHash?: string | undefined;
  /** The reason, if all rows have the same one. */
  readonly reason?: string | undefined;
  /** The run that this one undoes. */
  readonly undoes?: string | undefined;
  /** Numbers of rows that are counted, but not recorded: in no need of a change, without a pet, not edited. */
  readonly unchanged: number;
  readonly skipped?: number | undefined;
  readonly notEdited?: number | undefined;
}

/** A row that a plan wants to be written. Without `before` and `delta` it is written whatever the stock is. */
export interface PlannedRow {
  /** The number of the row in the run, from 1. */
  readonly row: number;
  /** The line of the file; 1 for a single write; for an undo, the row of the run that is undone. */
  readonly line: number;
  /** At most one row of a run is about a pet. */
  readonly petId: bigint;
  /** The stock that the row relies on. */
  readonly before: number | undefined;
  /** The wanted stock. For a delta, what the stock would become; it follows the stock until the row is sent. */
  readonly after: number;
  readonly delta?: number | undefined;
  /** The number of the last intent that the stock in `before` shows; undefined if it is to be read in the turn. */
  readonly basis?: number | undefined;
  /**
   * Whether the stock is to be read in the turn although the row does not rely on it; with `before`, the stock has to be
   * exactly that. Not recorded.
   */
  readonly readsFirst?: boolean | undefined;
  readonly reason?: string | undefined;
  readonly ref?: string | undefined;
  /** The outcome of a row that is not to be sent: a conflict, a stock that can't be read, or a count that agrees. */
  readonly outcome?:
    | { readonly result: 'conflict' | 'failed' | 'unchanged'; readonly error: RowError | undefined }
    | undefined;
}

/**
 * - `pending`: certainly not written
 * - `unknown`: the request has ended without telling whether it was carried out
 */
export const recordedResults = ['pending', 'applied', 'unchanged', 'failed', 'conflict', 'differs', 'unknown'] as const;
/** Results of a row that changed the stock, or may have. */
export const possibleWrites: readonly RecordedResult[] = ['applied', 'differs', 'unknown'];
export type RecordedResult = (typeof recordedResults)[number];

/** A row as the history shows it. */
export interface RecordedRow extends Omit<PlannedRow, 'outcome' | 'readsFirst'> {
  readonly result: RecordedResult;
  /** The number of its last intent, in the order of all intents to its service; undefined if it was not sent. */
  readonly intent: number | undefined;
  /** When none of its requests can be under way any more, by the store's clock. */
  readonly inFlightUntil: number | undefined;
  /** The stock that was found or written. */
  readonly quantity: number | undefined;
  readonly error: RowError | undefined;
  /** When its last intent or outcome was recorded; undefined if none was. */
  readonly at: number | undefined;
  /** The number of its outcome, in the order in which the outcomes of all runs became visible. */
  readonly outcome: number | undefined;
  /** The run that has undone the row; undefined if none has. */
  readonly undoneBy: string | undefined;
}

export const runStates = ['running', 'incomplete', 'done'] as const;

export interface RunRecord extends RunHead {
  /** The id of the run, like `20260115T120020Z-k3x9`. */
  readonly run: string;
  /** When the run began, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** The last intent to the service before the run began. */
  readonly began: number;
  /** The runs that have undone rows of this one, oldest first. */
  readonly undoneBy: readonly string[];
  /** Number of rows of this run that were undone. */
  readonly undone: number;
  /** Number of recorded rows. */
  readonly changes: number;
  /** Total number of units that the plan adds and removes; undefined if the earlier stock of a row is not known. */
  readonly units: bigint | undefined;
  /** The pets of the first 20 rows. */
  readonly pets: readonly bigint[];
  /** Numbers of rows by result. `unchanged` includes the rows counted in the head. */
  readonly counts: Readonly<Record<RecordedResult | 'skipped' | 'notEdited', number>>;
  /**
   * - `running`: a process is writing the run
   * - `incomplete`: no process is writing the run, and some rows are pending or unknown
   * - `done`: every row has its outcome, or the run was discarded
   */
  readonly state: (typeof runStates)[number];
  readonly isDiscarded: boolean;
}

export interface RunFilter {
  readonly env?: string | undefined;
  /** null selects the store without a name. */
  readonly store?: string | null | undefined;
  readonly petIds?: Iterable<bigint> | undefined;
  readonly ref?: string | undefined;
  readonly user?: string | undefined;
  readonly host?: string | undefined;
  /** Selects runs that began at this time or later, in milliseconds since the Unix epoch. */
  readonly since?: number | undefined;
  /** Selects runs that began at this time or earlier. */
  readonly until?: number | undefined;
  readonly state?: RunRecord['state'] | undefined;
  /** Maximum number of runs; 1 or more. */
  readonly limit?: number | undefined;
}

/** Selects rows; `since` and `until` refer to when they were settled. */
export interface SettledFilter
  extends Pick<RunFilter, 'env' | 'store' | 'petIds' | 'ref' | 'user' | 'since' | 'until'> {
  /** Selects rows with a higher `outcome`, such as those after the last row that was yielded earlier. */
  readonly after?: number | undefined;
}

export interface SettledRow {
  readonly run: RunRecord;
  readonly row: RecordedRow;
}
