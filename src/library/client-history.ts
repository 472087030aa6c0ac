import type { RowError } from '../inventory/change.ts';
import { type RecordedRow, type RunRecord, runStates } from '../inventory/run-records.ts';
import { UsageError } from '../shared/errors.ts';
import type { State } from '../state/state.ts';
import { countOf, type PetIdInput, petIdOf, timeOf, wordOf } from './arguments.ts';

export interface HistoryFilter {
  /** Selects runs that have a row for this pet. */
  readonly petId?: PetIdInput | undefined;
  /** Selects runs that began at this time or later. */
  readonly since?: Date | undefined;
  /** Selects runs that began at this time or earlier. */
  readonly until?: Date | undefined;
  readonly state?: HistoryRun['state'] | undefined;
  readonly limit?: number | undefined;
}

const runFields = [
  ...(['run', 'command', 'user', 'host', 'file', 'reason', 'undoes', 'undoneBy'] as const),
  ...(['changes', 'units', 'counts', 'state'] as const),
];

const rowFields = [
  ...(['row', 'petId', 'before', 'after', 'delta', 'result'] as const),
  ...(['quantity', 'error', 'reason', 'ref', 'undoneBy'] as const),
];

/** A run of this service in the history. */
export interface HistoryRun {
  /** The run's id, like `20260115T120020Z-k3x9`. */
  readonly run: string;
  /** When the run began. */
  readonly at: Date;
  /** The command, like `inventory set`, `inventory apply` or `undo`. */
  readonly command: string;
  readonly user: string | undefined;
  readonly host: string;
  /** The name of the applied file, as the user gave it; `-` is stdin. */
  readonly file?: string | undefined;
  /** The reason, if all rows have the same one. */
  readonly reason?: string | undefined;
  /** The run that this one undoes. */
  readonly undoes?: string | undefined;
  /** The runs that have undone rows of this run, oldest first. */
  readonly undoneBy: readonly string[];
  /** Number of recorded rows. Rows that needed no change are not recorded. */
  readonly changes: number;
  /** Total number of units that the plan adds and removes. A row whose previous stock is not known does not count. */
  readonly units: bigint;
  /** Number of rows with each result, including rows that needed no change or were left out, which are not recorded. */
  readonly counts: Readonly<Record<HistoryRow['result'] | 'skipped' | 'notEdited', number>>;
  /**
   * `incomplete`: no process is writing the run, and some rows are pending or unknown. `done`: every row has its
   * outcome, or the run was discarded.
   */
  readonly state: 'running' | 'done' | 'incomplete';
  /** Yields the rows in the order of the plan. */
  rows(): AsyncIterable<HistoryRow>;
}

export interface HistoryRow {
  /** The number of the row in the run, from 1. */
  readonly row: number;
  readonly petId: bigint;
  /** The stock before the write, if it was read. */
  readonly before: number | undefined;
  /** The wanted stock; for a delta, its sum with `before`. */
  readonly after: number;
  /** The number added to whatever the stock is; undefined for a row that sets the stock or expects a certain stock. */
  readonly delta?: number | undefined;
  /** `pending`: certainly not carried out so far. `unknown`: it is not known whether the row was carried out. */
  readonly result: 'pending' | 'applied' | 'unchanged' | 'failed' | 'conflict' | 'differs' | 'unknown';
  /** The stock that the service returned, or that was found by reading it back. */
  readonly quantity: number | undefined;
  readonly error: RowError | undefined;
  readonly reason: string | undefined;
  readonly ref: string | undefined;
  /** The run that has undone the row; undefined if none has. */
  readonly undoneBy: string | undefined;
  /** When the run last sent or settled the row; undefined if it did neither. */
  readonly at: Date | undefined;
}

export interface HistoryContext {
  readonly state: Pick<State, 'history'>;
  readonly serviceName: string;
}

export async function* historyOf(
  { state: { history }, serviceName }: HistoryContext,
  { petId, since, until, state, limit }: HistoryFilter,
): AsyncGenerator<HistoryRun, void> {
  let left = countOf(limit, 'limit') ?? Number.POSITIVE_INFINITY;
  const runs = history.runs({
    petId: petId === undefined ? undefined : petIdOf(petId),
    since: timeOf(since, 'since'),
    until: timeOf(until, 'until'),
    state: wordOf(state, 'state', runStates),
  });
  for await (const run of runs) {
    if (left <= 0) return;
    if (run.serviceName !== serviceName) continue;
    left -= 1;
    yield { ...pick(run, runFields), at: new Date(run.at), rows: () => historyRows(history.rows(run.run)) };
  }
}

async function* historyRows(rows: AsyncIterable<RecordedRow>): AsyncGenerator<HistoryRow, void> {
  for await (const row of rows) {
    yield { ...pick(row, rowFields), at: row.at === undefined ? undefined : new Date(row.at) };
  }
}

/**
 * Returns the run with this id, or the one whose id ends with these four characters.
 * @throws NotFoundError if no run matches; UsageError if the text has another form, matches several runs, or matches a
 * run at another service
 */
export async function requireRun(
  { state: { history }, serviceName }: HistoryContext,
  text: string,
): Promise<RunRecord> {
  const run = await history.find(text);
  if (run.serviceName === serviceName) return run;
  throw new UsageError(`Run ${run.run} was made at ${run.baseUrl}, not at this service. Nothing was sent`);
}

function pick<T extends object, Name extends keyof T>(from: T, names: readonly Name[]): Pick<T, Name> {
  return Object.fromEntries(names.map((name) => [name, from[name]])) as unknown as Pick<T, Name>;
}
