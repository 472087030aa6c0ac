import { historyFolder, runPath, runsIn } from './folder.ts';
import { isWriting, type Machine } from './machine.ts';
import type { RecordedState } from './records.ts';
import { type RunFile, readHead, readRunFile } from './run-file.ts';

/** A run without its rows. */
export interface RunSummary {
  readonly run: string;
  /** When it began: ISO 8601, UTC. */
  readonly at: string;
  readonly env: string;
  readonly command: string;
  readonly user: string | undefined;
  readonly file: string | undefined;
  /** The run that it takes back. */
  readonly undoes: string | undefined;
  /** The runs that have taken back any row of it, the oldest first. */
  readonly undoneBy: readonly string[];
  /** How many rows of it they have taken back. */
  readonly undone: number;
  /** Rows in its plan. */
  readonly changes: number;
  /** Its rows by where they stand. */
  readonly counts: Readonly<Record<RecordedState, number>>;
  /** All of its changes are on disk. Without that nothing was sent, and nothing can be resumed. */
  readonly planned: boolean;
  /**
   * - `running`: a process is at it
   * - `incomplete`: none is, and rows are pending or open
   * - `done`: every row has its answer
   */
  readonly state: 'done' | 'incomplete' | 'running';
}

export interface RunFilter {
  readonly env?: string | undefined;
  /** Runs that have a row for this pet. */
  readonly petId?: bigint | undefined;
  /** Milliseconds since the Unix epoch; runs that began then or later. */
  readonly since?: number | undefined;
  /** Milliseconds since the Unix epoch; runs that began then or earlier. */
  readonly until?: number | undefined;
}

export interface RunList {
  /** The newest first. */
  readonly runs: readonly RunSummary[];
  /** A sentence for each file that can't be read. */
  readonly problems: readonly string[];
}

/** @throws FailureError where the folder can't be read; a file that can't be is told in `problems` */
export function listRuns(stateFolder: string, filter: RunFilter, machine: Machine): RunList {
  const runs: PlainSummary[] = [];
  const problems: string[] = [];
  const undos: PlainSummary[] = [];
  for (const run of runsIn(stateFolder)) {
    try {
      const file = readRunFile(stateFolder, run);
      const summary = summaryOf(file, runPath(stateFolder, run), machine);
      if (file.lost > 0) problems.push(damaged(stateFolder, run, file.lost));
      if (summary.undoes !== undefined && summary.counts.applied > 0) undos.push(summary);
      if (matches(file, filter)) runs.push(summary);
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  const undosOf = new Map<string, PlainSummary[]>();
  for (const undo of undos.sort(byBeginning)) {
    undosOf.set(undo.undoes ?? '', [...(undosOf.get(undo.undoes ?? '') ?? []), undo]);
  }
  const whole = runs.sort(byBeginning).map((summary) => {
    const own = undosOf.get(summary.run) ?? [];
    const undone = own.reduce((sum, { counts }) => sum + counts.applied, 0);
    return { ...summary, undoneBy: own.map(({ run }) => run), undone };
  });
  return { runs: whole.reverse(), problems };
}

type PlainSummary = Omit<RunSummary, 'undoneBy' | 'undone'>;

/** Ids tell the second, and are random within it. */
function byBeginning(left: PlainSummary, right: PlainSummary): number {
  return Date.parse(left.at) - Date.parse(right.at) || (left.run < right.run ? -1 : 1);
}

/**
 * The rows of a run that were taken back, each with the run that did it. Files that can't be read tell nothing.
 * @param run a whole id
 */
export function undoneRows(stateFolder: string, run: string): ReadonlyMap<number, string> {
  const undone = new Map<number, string>();
  for (const other of runsIn(stateFolder)) {
    for (const row of rowsUndoing(stateFolder, other, run)) undone.set(row, other);
  }
  return undone;
}

function rowsUndoing(stateFolder: string, other: string, run: string): number[] {
  try {
    if (readHead(stateFolder, other).undoes !== run) return [];
    const { rows } = readRunFile(stateFolder, other).recorded;
    return rows.filter(({ state }) => state === 'applied').map(({ line }) => line);
  } catch {
    return [];
  }
}

function summaryOf({ recorded, writers }: RunFile, path: string, machine: Machine): PlainSummary {
  const { run, at, env, command, user, file, undoes, planned, rows } = recorded;
  const counts = { pending: 0, open: 0, applied: 0, unchanged: 0, failed: 0, conflict: 0 };
  for (const { state } of rows) counts[state] += 1;
  const isRunning = writers.some((writer) => !writer.ended && isWriting(writer, path, machine));
  const isDone = counts.pending + counts.open === 0;
  const state = isRunning ? 'running' : isDone ? 'done' : 'incomplete';
  return { run, at, env, command, user, file, undoes, changes: rows.length, counts, planned, state };
}

function matches({ recorded }: RunFile, { env, petId, since, until }: RunFilter): boolean {
  const at = Date.parse(recorded.at);
  if (env !== undefined && recorded.env !== env) return false;
  if ((since !== undefined && at < since) || (until !== undefined && at > until)) return false;
  return petId === undefined || recorded.rows.some((row) => row.petId === petId);
}

function damaged(stateFolder: string, run: string, lost: number): string {
  return `Run ${run} in ${historyFolder(stateFolder)} is damaged: ${lost} of its changes can't be read`;
}
