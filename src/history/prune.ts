import { existsSync, rmSync } from 'node:fs';
import { runPath, writeFailure } from './folder.ts';
import { isWriting, type Machine } from './machine.ts';
import { readRunFile } from './run-file.ts';
import { listRuns, type RunSummary } from './runs.ts';

/** Which runs are to go. Where both bounds are there, a run has to be past both; without any, none is. */
export interface PruneOptions extends Machine {
  /** Runs of this environment alone. */
  readonly env?: string | undefined;
  /** Milliseconds since the Unix epoch; runs that began before. */
  readonly before?: number | undefined;
  /** All but so many of the newest. */
  readonly keep?: number | undefined;
  /** Also runs that could still be resumed. */
  readonly incomplete?: boolean | undefined;
}

export interface PrunePlan {
  /** The newest first. */
  readonly runs: readonly RunSummary[];
  /** Past the bounds as well, but kept: still going on, to be resumed, or an undo of a run that is kept. */
  readonly kept: readonly RunSummary[];
  /** A sentence for each file that can't be read. */
  readonly problems: readonly string[];
}

/** @throws FailureError where the folder can't be read */
export function runsToPrune(stateFolder: string, options: PruneOptions): PrunePlan {
  const { runs, problems } = listRuns(stateFolder, { env: options.env }, options);
  const past = runs.filter((run, index) => isPast(run, index, options));
  const gone = new Set(past.filter((run) => mayGo(run, options)).map(({ run }) => run));
  const all = new Set(runs.map(({ run }) => run));
  // Without its undo a run could be undone twice. From the oldest on, since what is undone is older than its undo.
  for (const { run, undoes } of past.toReversed()) {
    if (undoes !== undefined && all.has(undoes) && !gone.has(undoes)) gone.delete(run);
  }
  const goes = ({ run }: RunSummary) => gone.has(run);
  return { runs: past.filter(goes), kept: past.filter((run) => !goes(run)), problems };
}

function isPast({ at }: RunSummary, index: number, { before, keep }: PruneOptions): boolean {
  if (before === undefined && keep === undefined) return false;
  return (before === undefined || Date.parse(at) < before) && (keep === undefined || index >= keep);
}

/** A run that was never planned whole has sent nothing, and nobody can resume it. */
function mayGo({ state, planned }: RunSummary, { incomplete }: PruneOptions): boolean {
  return state === 'done' || (state === 'incomplete' && (incomplete === true || !planned));
}

/**
 * Removes the files of runs, but of those that somebody has begun to go on with since.
 * @returns the ids of those that were removed
 * @throws FailureError where a file can't be removed
 */
export function removeRuns(stateFolder: string, runs: Iterable<Pick<RunSummary, 'run'>>, machine: Machine): string[] {
  const removed: string[] = [];
  // The oldest first: where this breaks off, no run has lost its undo.
  for (const run of [...runs].map((summary) => summary.run).sort()) {
    const path = runPath(stateFolder, run);
    if (!existsSync(path)) continue;
    const { writers } = readRunFile(stateFolder, run);
    if (writers.some((writer) => !writer.ended && isWriting(writer, path, machine))) continue;
    try {
      rmSync(path, { force: true });
    } catch (cause) {
      throw writeFailure(stateFolder, cause);
    }
    removed.push(run);
  }
  return removed;
}
