import type { RowError } from './change.ts';

export interface RunHead {
  /** `inventory set`, `inventory adjust`, `inventory apply`, `undo` */
  readonly command: string;
  readonly env: string;
  /** One of several stores; undefined for the unnamed one. */
  readonly store: string | undefined;
  /** Where the requests went. */
  readonly baseUrl: string;
  /** The service that was written to, by `serviceNameOf`: the same for every name of one address. */
  readonly serviceName: string;
  /** A hash that tells keys apart; never the key. */
  readonly scope: string;
  readonly user: string | undefined;
  /** The name of the file that was applied, as it was given; `-` is stdin. */
  readonly file?: string | undefined;
  /** SHA-256 of the content of that file, in hex. */
  readonly contentHash?: string | undefined;
  /** Whether the file had deltas: applied twice, it counts twice. */
  readonly hasDeltas?: boolean | undefined;
  /** The reason that all rows give, if they agree. */
  readonly reason?: string | undefined;
  /** The run that this one takes back. */
  readonly undoes?: string | undefined;
  /** Rows that needed no change when the run was planned: counted, not kept. */
  readonly unchanged: number;
  /** Rows whose pet the service does not have, which were left out; and rows of a file that nobody edited. Counted, not kept. */
  readonly skipped?: number | undefined;
  readonly notEdited?: number | undefined;
}

/** One change of stock that a run is about to make, or that is already known to change nothing. */
export interface PlannedRow {
  /** Counts from 1 within the run. */
  readonly row: number;
  /** The line of the file that it came from; 1 for a single write; for an undo the row of the run that is undone. */
  readonly line: number;
  readonly petId: bigint;
  /** The stock that was read before, if it was. */
  readonly before: number | undefined;
  readonly after: number;
  /** An increment that is owed: `before` and `after` are those of the last look, and change with the stock. Undefined: `after` is what is wanted. */
  readonly delta?: number | undefined;
  readonly reason: string | undefined;
  readonly ref: string | undefined;
  /** A row of the plan that is not to be sent: a conflict, or a pet that the service does not have. */
  readonly outcome?: { readonly result: 'conflict' | 'failed'; readonly error: RowError } | undefined;
}

/** `pending`: not carried out. `unknown`: sent, and whether it was carried out is not known (an intent without outcome too). */
export const recordedResults = ['pending', 'applied', 'unchanged', 'failed', 'conflict', 'differs', 'unknown'] as const;
export type RecordedResult = (typeof recordedResults)[number];

export interface RecordedRow extends Omit<PlannedRow, 'outcome'> {
  readonly result: RecordedResult;
  readonly quantity: number | undefined;
  readonly error: RowError | undefined;
  /** Of its last intent or outcome: milliseconds since the Unix epoch; undefined before the first. */
  readonly at: number | undefined;
  /** By the monotonic clock: until then a request of it may be on its way. Undefined if none was sent since the boot. */
  readonly inFlightUntil: number | undefined;
  /** In the order of all writes: when it was planned, or, once it was sent, its last intent. */
  readonly sequence: number;
  /** In the order of all writes: its last change. */
  readonly touched: number;
  /** The run that has taken it back. */
  readonly undoneBy: string | undefined;
}

/** Rows by result. Those that were skipped, or not edited, are counted and not kept. */
type RunCounts = Readonly<Record<RecordedResult | 'skipped' | 'notEdited', number>>;

export const runStates = ['running', 'incomplete', 'done'] as const;

export interface RunRecord extends RunHead {
  /** `20260115T120020Z-k3x9` */
  readonly run: string;
  /** When it began: milliseconds since the Unix epoch. */
  readonly at: number;
  readonly host: string;
  /** The runs that have taken back any row of it, the oldest first. */
  readonly undoneBy: readonly string[];
  /** How many rows of it they have taken back. */
  readonly undone: number;
  /** Rows in its plan. */
  readonly changes: number;
  /** Units that its rows add and take away, together; rows whose stock before is not known count nothing. */
  readonly units: bigint;
  /** The first 20. */
  readonly pets: readonly bigint[];
  /** Its rows by where they stand. `unchanged` includes those of the head. */
  readonly counts: RunCounts;
  /**
   * - `running`: a process is at it
   * - `incomplete`: no process is, and rows are pending or unknown
   * - `done`: every row has its answer, or the run was discarded
   */
  readonly state: (typeof runStates)[number];
  /** It was closed without being written whole: it is `done`, and is never resumed. */
  readonly isDiscarded: boolean;
  /** In the order of all writes: the last number before it began. */
  readonly began: number;
  /** Its own number: runs are in its order. */
  readonly sequence: number;
  /** The number of its last change. */
  readonly touched: number;
}

export interface RunFilter {
  readonly env?: string | undefined;
  /** null: only those of the store without a name. */
  readonly store?: string | null | undefined;
  readonly petId?: bigint | undefined;
  /** Any of these. */
  readonly petIds?: Iterable<bigint> | undefined;
  readonly ref?: string | undefined;
  readonly user?: string | undefined;
  /** Milliseconds since the Unix epoch; runs that began then or later. */
  readonly since?: number | undefined;
  /** Milliseconds since the Unix epoch; runs that began then or earlier. */
  readonly until?: number | undefined;
  readonly state?: RunRecord['state'] | undefined;
  readonly by?: { readonly user?: string | undefined; readonly host?: string | undefined } | undefined;
  /** At most so many; 1 or more. */
  readonly limit?: number | undefined;
}

/** Which rows; `since` and `until` are about when they were settled. */
export interface SettledFilter
  extends Pick<RunFilter, 'env' | 'store' | 'petId' | 'petIds' | 'ref' | 'user' | 'since' | 'until'> {
  /** The `touched` of the last row that was given out. */
  readonly after?: number | undefined;
}

export interface SettledRow {
  readonly run: RunRecord;
  readonly row: RecordedRow;
}

export interface LaterWrite {
  /** Undefined if it is `pruned`. */
  readonly run?: string | undefined;
  readonly command: string;
  /** `pruned`: it was removed from the history, so that nobody knows what it has written. */
  readonly result: 'applied' | 'differs' | 'unknown' | 'pruned';
  /** The stock that it has written; of `unknown`: that it may have written; undefined if it is `pruned`. */
  readonly quantity?: number | undefined;
  /** The stock that it had read before; undefined if it had read none. */
  readonly before?: number | undefined;
  /** The increment, if it was one. */
  readonly delta?: number | undefined;
}

export interface RecentWrite {
  readonly petId: bigint;
  readonly result: Exclude<LaterWrite['result'], 'pruned'>;
  readonly before: number | undefined;
  readonly quantity: number;
  /** When it was settled, or begun, in the order of all writes. */
  readonly sequence: number;
}
