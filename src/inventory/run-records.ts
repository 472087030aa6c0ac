import type { RowError } from './change.ts';

export interface RunHead {
  /** The command, like `inventory set`, `inventory count` or `undo`. */
  readonly command: string;
  readonly env: string;
  /** The name of the store; undefined for the store without a name. */
  readonly store: string | undefined;
  readonly baseUrl: string;
  /** The canonical name of the service, from `serviceNameOf`. It does not depend on how the URL is spelled. */
  readonly serviceName: string;
  /** A hash that distinguishes keys; never the key. */
  readonly scope: string;
  readonly user: string | undefined;
  /** The name of the applied file, as the user gave it; `-` is stdin. */
  readonly file?: string | undefined;
  /** SHA-256 in hex that identifies the rows of that file, in any order. */
  readonly contentHash?: string | undefined;
  /** Whether the file had deltas, so that applying it twice would add them twice. */
  readonly hasDeltas?: boolean | undefined;
  /** The reason, if all rows have the same one. */
  readonly reason?: string | undefined;
  /** The run that this one undoes. */
  readonly undoes?: string | undefined;
  /** Number of rows that needed no change when the run was planned. They are counted, not kept. */
  readonly unchanged: number;
  /**
   * Number of rows whose pet the service does not have. They are counted, not kept; so are the rows of a file that were
   * not edited.
   */
  readonly skipped?: number | undefined;
  readonly notEdited?: number | undefined;
}

/** A change of stock that a run is about to make, or that is not sent because it has its outcome already. */
export interface PlannedRow {
  /** The number of the row in the run, from 1. */
  readonly row: number;
  /** The line of the file; 1 for a single write; for an undo, the row of the run that is undone. */
  readonly line: number;
  readonly petId: bigint;
  /** The stock before the write, if it was read. */
  readonly before: number | undefined;
  readonly after: number;
  /**
   * The delta, if the row has one. `before` and `after` are then those of the last read, and change with the stock.
   * Without a delta, `after` is the wanted stock.
   */
  readonly delta?: number | undefined;
  readonly reason: string | undefined;
  readonly ref: string | undefined;
  /** The outcome of a row that is not to be sent: a conflict, or a stock that can't be read. */
  readonly outcome?: { readonly result: 'conflict' | 'failed'; readonly error: RowError } | undefined;
}

/**
 * `pending`: not carried out. `unknown`: sent, and it is not known whether it was carried out (also an intent without
 * an outcome).
 */
export const recordedResults = ['pending', 'applied', 'unchanged', 'failed', 'conflict', 'differs', 'unknown'] as const;
/** Results of a row that changed the stock, or may have. */
export const possibleWrites: readonly RecordedResult[] = ['applied', 'differs', 'unknown'];
export type RecordedResult = (typeof recordedResults)[number];

export interface RecordedRow extends Omit<PlannedRow, 'outcome'> {
  readonly result: RecordedResult;
  readonly quantity: number | undefined;
  readonly error: RowError | undefined;
  /** When the row's last intent or outcome was written, in milliseconds since the Unix epoch; undefined if none was. */
  readonly at: number | undefined;
  /** When no request of the row can be in flight any more, by the monotonic clock; undefined if none can be now. */
  readonly inFlightUntil: number | undefined;
  /** The sequence number of the row's last intent; before the first intent, the last number before the run began. */
  readonly sequence: number;
  /** The sequence number of the row's last change. */
  readonly touched: number;
  /** The run that has undone the row; undefined if none has. */
  readonly undoneBy: string | undefined;
}

/** Numbers of rows by result. Skipped rows and rows that were not edited are counted, but not kept. */
type RunCounts = Readonly<Record<RecordedResult | 'skipped' | 'notEdited', number>>;

export const runStates = ['running', 'incomplete', 'done'] as const;

export interface RunRecord extends RunHead {
  /** The id of the run, like `20260115T120020Z-k3x9`. */
  readonly run: string;
  /** When the run began, in milliseconds since the Unix epoch. */
  readonly at: number;
  readonly host: string;
  /** The runs that have undone rows of this one, oldest first. */
  readonly undoneBy: readonly string[];
  /** Number of rows of this run that were undone. */
  readonly undone: number;
  /** Number of recorded rows. Rows that needed no change are not recorded. */
  readonly changes: number;
  /** Total number of units that the plan adds and removes. A row whose previous stock is not known does not count. */
  readonly units: bigint;
  /** The pets of the first 20 rows. */
  readonly pets: readonly bigint[];
  /** Numbers of rows by result. `unchanged` includes the rows counted in the head. */
  readonly counts: RunCounts;
  /**
   * - `running`: a process is writing the run
   * - `incomplete`: no process is writing the run, and some rows are pending or unknown
   * - `done`: every row has its outcome, or the run was discarded
   */
  readonly state: (typeof runStates)[number];
  /** Whether the run was closed before it was complete, so that it is `done` and can't be resumed. */
  readonly isDiscarded: boolean;
  /** The last sequence number before the run began. */
  readonly began: number;
  /** The run's own sequence number, by which runs are ordered. */
  readonly sequence: number;
  /** The sequence number of the run's last change. */
  readonly touched: number;
}

export interface RunFilter {
  readonly env?: string | undefined;
  /** null selects the store without a name. */
  readonly store?: string | null | undefined;
  readonly petId?: bigint | undefined;
  /** Selects runs that have a row for one of these pets; in a `SettledFilter`, rows for one of them. */
  readonly petIds?: Iterable<bigint> | undefined;
  readonly ref?: string | undefined;
  readonly user?: string | undefined;
  /** Selects runs that began at this time or later, in milliseconds since the Unix epoch. */
  readonly since?: number | undefined;
  /** Selects runs that began at this time or earlier, in milliseconds since the Unix epoch. */
  readonly until?: number | undefined;
  readonly state?: RunRecord['state'] | undefined;
  readonly by?: { readonly user?: string | undefined; readonly host?: string | undefined } | undefined;
  /** Maximum number of runs; 1 or more. */
  readonly limit?: number | undefined;
}

/** Selects rows; `since` and `until` refer to when they were settled. */
export interface SettledFilter
  extends Pick<RunFilter, 'env' | 'store' | 'petId' | 'petIds' | 'ref' | 'user' | 'since' | 'until'> {
  /** Selects rows with a higher `touched`, such as those after the last row that was yielded earlier. */
  readonly after?: number | undefined;
}

export interface SettledRow {
  readonly run: RunRecord;
  readonly row: RecordedRow;
}

export interface LaterWrite {
  /** Undefined if the write is `pruned`. */
  readonly run?: string | undefined;
  readonly command: string;
  /** `pruned`: the write was removed from the history, so the written stock is not known. */
  readonly result: 'applied' | 'differs' | 'unknown' | 'pruned';
  /** The stock that was written, or for `unknown`, that may have been written; undefined if the write is `pruned`. */
  readonly quantity?: number | undefined;
  /** The stock that the write had read; undefined if it had read none. */
  readonly before?: number | undefined;
  readonly delta?: number | undefined;
}

export interface RecentWrite {
  readonly petId: bigint;
  readonly result: Exclude<LaterWrite['result'], 'pruned'>;
  readonly before: number | undefined;
  readonly quantity: number;
  /** The position of the write's last change in the order of all writes. */
  readonly sequence: number;
}
