import type { RowError } from '../inventory/change.ts';
import type { PlannedRow, RecordedResult, RecordedRow, RunHead, RunRecord } from '../inventory/run-records.ts';
import type { Busy, Mark, Place } from './pets.ts';

export type { PlannedRow, RecordedResult, RecordedRow, RunHead, RunRecord };

/**
 * What was written: runs, their rows, and what became of each. Nothing is held whole: lists and rows are streamed.
 *
 * All methods throw FailureError where the state can't be read or written.
 */
export interface History {
  /**
   * Begins a run. It and its rows are durable when this resolves; nothing has been sent.
   * @param rows in the order of the plan; asked for again if the database was lost meanwhile
   */
  begin(head: RunHead, rows: Iterable<PlannedRow>): Promise<RunLog>;
  /**
   * Takes over a run whose process is gone.
   * @param run a whole id
   * @throws ConflictError while another process has it
   */
  resume(run: string): Promise<RunLog>;
  /**
   * The run that a person means: its whole id, or its last four characters where only one run ends in them.
   * @throws UsageError for what is no id, or stands for more than one run; NotFoundError where no run has it
   */
  find(text: string): Promise<string>;
  /** @param run a whole id. @throws NotFoundError */
  run(run: string): Promise<RunRecord>;
  /** The newest first. */
  runs(filter?: RunFilter): AsyncIterable<RunRecord>;
  /** The rows of a run in the order of its plan. @param results only rows with one of these */
  rows(run: string, results?: readonly RecordedResult[]): AsyncIterable<RecordedRow>;
  /**
   * What other runs have written, or may have written, of a pet after a row of a run, oldest first, for each row. Writes that
   * were taken back, and the undos that did it, are left out: together they changed nothing. The database may be far away, so
   * many rows are one question.
   */
  writesAfter(run: RunOfService, rows: readonly RowPosition[]): Promise<readonly (readonly PetWrite[])[]>;
  /**
   * The stock that this state last read or wrote of each of some pets; undefined where it knows none, or the last write is
   * unknown. One question, as above.
   */
  lastKnownQuantities(service: string, pets: readonly PetBefore[]): Promise<readonly (number | undefined)[]>;
  /**
   * The writes at a service that were settled, or begun, since a moment, the oldest first.
   * @param since milliseconds since the Unix epoch, by the clock of this machine
   * @param petIds only of these pets; undefined: of all
   */
  recentWrites(service: string, since: number, petIds?: readonly bigint[]): Promise<readonly RecentWrite[]>;
  /** The runs of a change file with this content at a service, the newest first. */
  runsOfFile(service: string, contentHash: string): Promise<readonly RunRecord[]>;
  /**
   * Rows that have an outcome, of all runs, in the order in which they were settled: `touched` only grows, in the order in which rows
   * become visible, so no row ever appears before one that was given out.
   */
  settled(filter?: SettledFilter): AsyncIterable<SettledRow>;
  /**
   * Removes runs, oldest first, and gives their space back. Those stay that a process is writing, and those that another run relies on: see
   * `removableRuns`. Runs that could be resumed go with the rest.
   * @returns the ids of those that were removed
   */
  remove(runs: readonly string[]): Promise<readonly string[]>;
}

/** The log of one run that this process writes. */
export interface RunLog {
  readonly run: string;
  /**
   * Takes the leases of rows and writes their intents, in one durable transaction, right before their requests leave. Rows
   * that are not granted are left as they were.
   *
   * @param since the mark before the stock that the rows rely on; undefined: they rely on none
   * @param place where a row's pet was entered before: its lease goes over to the run
   * @returns for each row, in the same order, whether it may be sent
   *   After this process was stopped for longer than its lease, all rows are `busy` by its own run until what it sent before has
   *   been settled; so is a row of a resumed run until the request of the process before can't be on its way any more.
   * @throws FailureError where the state is gone or can't be written, ConflictError where another process has taken the run
   *   over: then nothing may be sent
   */
  intend(rows: readonly Intent[], since: Mark | undefined, place?: Place): Promise<readonly Grant[]>;
  /**
   * What became of rows; gives their leases back, except for `unknown`, which keeps the pet busy until its request can't be on
   * its way any more. Buffered: written with the next `intend`, after a moment, or by `end`, whichever is first.
   */
  settle(outcomes: readonly Outcome[]): Promise<void>;
  /**
   * What other runs have written, or may have written, of the pets of rows since their intents, as `History.writesAfter` has it, for
   * each row: a process that was stopped for longer than its lease has others before it when it goes on.
   */
  writesSince(rows: readonly Pick<Intent, 'row' | 'petId'>[]): Promise<readonly (readonly PetWrite[])[]>;
  /**
   * Writes out what is buffered. Durable.
   * @throws FailureError where that fails, or the state was removed meanwhile: then the history lacks what was written
   */
  flush(): Promise<void>;
  /** `flush`, and this process has left the run, even where that throws. May be called again. */
  end(): Promise<void>;
}

export interface Intent {
  readonly row: number;
  readonly petId: bigint;
  /** By the monotonic clock: from then on the request can't be on its way any more. */
  readonly expires: number;
  /** The stock that an increment is added to now, and the sum: kept with the intent if it is granted. */
  readonly rebased?: { readonly before: number; readonly after: number } | undefined;
}

export type Grant =
  | { readonly kind: 'granted' }
  /** Another run has written the pet since the mark, or may have; without `run` if it was removed from the history. */
  | { readonly kind: 'overtaken'; readonly run: string | undefined; readonly command: string }
  | ({ readonly kind: 'busy' } & Busy);

/** What became of a row. */
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
  /** At most so many. */
  readonly limit?: number | undefined;
}

/** Which rows; `since` and `until` are about when they were settled. */
export interface SettledFilter extends Pick<RunFilter, 'env' | 'store' | 'petId' | 'ref' | 'user' | 'since' | 'until'> {
  /** The `touched` of the last row that was given out. */
  readonly after?: number | undefined;
}

export interface SettledRow {
  readonly run: RunRecord;
  readonly row: RecordedRow;
}

export interface RunOfService {
  readonly service: string;
  readonly run: string;
}

/** A row of a run in the order of all writes. */
export interface RowPosition {
  readonly petId: bigint;
  readonly sequence: number;
}

/** A pet as it was known. */
export interface PetBefore {
  readonly petId: bigint;
  /** Only what is older than this sequence counts; undefined: all that is known now. */
  readonly before?: number | undefined;
}

/** A write of a pet by some run. */
export interface PetWrite {
  /** Undefined if it is `pruned`. */
  readonly run: string | undefined;
  readonly command: string;
  /** `pruned`: it was removed from the history, so that nobody knows what it has written. */
  readonly result: 'applied' | 'differs' | 'unknown' | 'pruned';
  /** What it has written; of `unknown`: what it may have written; undefined if it is `pruned`. */
  readonly quantity: number | undefined;
  /** The stock that it had read before; undefined if it had read none. */
  readonly before: number | undefined;
}

/** A write whose outcome came lately. */
export interface RecentWrite {
  readonly petId: bigint;
  readonly result: Exclude<PetWrite['result'], 'pruned'>;
  readonly before: number | undefined;
  readonly quantity: number;
  /** When it was settled, or begun, in the order of all writes. */
  readonly sequence: number;
}
