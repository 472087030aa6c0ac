import { type PrunableRun, removableRuns } from '../../../state/decide.ts';
import type { RunFilter, RunRecord } from '../../../state/history.ts';

/** What decides whether a run is to be removed. */
export type PlacedRun = PrunableRun & Pick<RunRecord, 'at' | 'env' | 'store'>;

/** Which runs are to go. If both bounds are there, a run has to be past both; without any, no run is. */
export interface PruneBounds {
  /** Milliseconds since the Unix epoch; runs that began before. */
  readonly before?: number | undefined;
  /** All except this many of the newest. */
  readonly keep?: number | undefined;
  /** Also runs that could still be resumed. */
  readonly incomplete: boolean;
}

export interface PrunePlan {
  /** Ids of the runs to remove, the newest first. */
  readonly runs: readonly string[];
  /** How many are past the bounds as well, but stay: see `removableRuns`. */
  readonly kept: number;
}

/** @param all runs of the state, the newest first. @param place which of them the bounds are about */
export function runsToPrune(
  all: readonly PlacedRun[],
  place: Pick<RunFilter, 'env' | 'store'>,
  bounds: PruneBounds,
): PrunePlan {
  const past = all.filter((run) => isAt(run, place)).filter((run, index) => isPast(run, index, bounds));
  const wanted = past.filter(({ state }) => state === 'done' || (state === 'incomplete' && bounds.incomplete));
  const runs = removableRuns(all, new Set(wanted.map(({ run }) => run)));
  return { runs, kept: past.length - runs.length };
}

function isAt(run: PlacedRun, { env, store }: Pick<RunFilter, 'env' | 'store'>): boolean {
  return (env === undefined || run.env === env) && (store === undefined || (run.store ?? null) === store);
}

function isPast({ at }: PlacedRun, index: number, { before, keep }: PruneBounds): boolean {
  if (before === undefined && keep === undefined) return false;
  return (before === undefined || at < before) && (keep === undefined || index >= keep);
}
