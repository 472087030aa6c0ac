import type { RunRecord } from '../../../state/history.ts';

/** What decides whether a run may be removed. */
export type PrunableRun = Pick<RunRecord, 'run' | 'at' | 'state' | 'undoes'>;

/** Which runs are to go. Where both bounds are there, a run has to be past both; without any, no run is. */
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
  /** How many are past the bounds as well, but stay: still going on, to be resumed, or an undo of a run that stays. */
  readonly kept: number;
}

/** @param all of the runs that the bounds are about, the newest first */
export function runsToPrune(all: readonly PrunableRun[], bounds: PruneBounds): PrunePlan {
  const past = all.filter((run, index) => isPast(run, index, bounds));
  const gone = new Set(past.filter((run) => mayGo(run, bounds)).map(({ run }) => run));
  const known = new Set(all.map(({ run }) => run));
  // Without its undo a run could be undone twice. From the oldest on, since what is undone is older than its undo.
  for (const { run, undoes } of past.toReversed()) {
    if (undoes !== undefined && known.has(undoes) && !gone.has(undoes)) gone.delete(run);
  }
  const runs = past.flatMap(({ run }) => (gone.has(run) ? [run] : []));
  return { runs, kept: past.length - runs.length };
}

function isPast({ at }: PrunableRun, index: number, { before, keep }: PruneBounds): boolean {
  if (before === undefined && keep === undefined) return false;
  return (before === undefined || at < before) && (keep === undefined || index >= keep);
}

function mayGo({ state }: PrunableRun, { incomplete }: PruneBounds): boolean {
  return state === 'done' || (state === 'incomplete' && incomplete);
}
