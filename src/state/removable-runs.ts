import type { RunRecord } from '../inventory/run-records.ts';

/** The properties that decide whether a run may be removed from the history. */
export interface PrunableRun extends Pick<RunRecord, 'run' | 'state' | 'undoes' | 'service' | 'began'> {
  /** The number of the last intent of its rows; 0 if none was sent. */
  readonly lastIntent: number;
}

/**
 * Returns which of the wanted runs may be removed, the newest first. Runs stay if they have sent something since the
 * start of the oldest run of their service that is open, resumable or being undone. The undo of a run that stays also
 * stays: without it, the run could be undone twice.
 * @param all all runs of the history, the newest first
 * @param wanted ids of runs; those that could be resumed are removed, too
 */
export function removableRuns(all: readonly PrunableRun[], wanted: ReadonlySet<string>): string[] {
  const isOpen = ({ run, state }: PrunableRun) => state === 'running' || (state === 'incomplete' && !wanted.has(run));
  const undone = new Set(all.filter(isOpen).flatMap(({ undoes }) => undoes ?? []));
  const floors = new Map<string, number>();
  for (const run of all) {
    if (!isOpen(run) && !undone.has(run.run)) continue;
    floors.set(run.service, Math.min(run.began, floors.get(run.service) ?? run.began));
  }
  const known = new Set(all.map(({ run }) => run));
  const gone = new Set<string>();
  // The oldest first: a run is older than its undo.
  for (const { run, undoes, ...each } of all.toReversed()) {
    if (!wanted.has(run) || isOpen({ ...each, run, undoes })) continue;
    if (each.lastIntent > (floors.get(each.service) ?? each.lastIntent)) continue;
    if (undoes === undefined || !known.has(undoes) || gone.has(undoes)) gone.add(run);
  }
  return all.filter(({ run }) => gone.has(run)).map(({ run }) => run);
}
