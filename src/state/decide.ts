import { possibleWrites, type RecordedResult, type RunRecord } from '../inventory/run-records.ts';
import type { ProcessIdentity } from '../shared/processes.ts';
import type { Busy, Outcome } from './intents-and-outcomes.ts';

/**
 * The rules of writes, as pure functions of rows that a driver has loaded under its lock:
 *
 * - A process is alive as long as its lease lasts, unless it has certainly ended.
 * - A pet is locked while a live process holds its lease, or while a request of a dead process may still be in flight.
 * - A write is superseded if another run has written the pet's stock since the write's read version, or may have.
 * - An outcome is final: a row that one process has settled is not settled by another.
 * - Rows are removed from the history only if no run that is open, resumable or being undone may still need them.
 *
 * Times are milliseconds by the state's clock.
 */

/** How long the lease of a process lasts, and the age at which it is renewed, in milliseconds. */
export const processLease = { lasts: 15_000, renewedAfter: 5000 } as const;

/** A process that is registered as writing. */
export interface Holder {
  readonly identity: ProcessIdentity;
  /** When the process's lease ends; for a process of another boot, when this boot assumes that it ends. */
  readonly ends: number;
}

/** @param isGone reports whether a process has certainly ended; false is inconclusive */
export function isAlive({ identity, ends }: Holder, now: number, isGone: (process: ProcessIdentity) => boolean) {
  return ends > now && !isGone(identity);
}

/** A position in the order of all writes. */
export interface ReadVersion {
  /** The last sequence number when the read began. Every write that is recorded later has a higher one. */
  readonly sequence: number;
  /**
   * When the read began, by the monotonic clock (by the state's clock within a transaction). A write of unknown outcome
   * counts as later if its request may arrive after this time.
   */
  readonly at: number;
}

export interface Lease {
  /** The id of a pet lock or of a run. */
  readonly owner: string;
  readonly run: string | undefined;
  /** The process that holds the lease; undefined if only a request is still in flight. */
  readonly holder: string | undefined;
  /** Whether the holder is alive. */
  readonly isHeld: boolean;
  /** When the last request can no longer be in flight; undefined before the first intent. */
  readonly inFlightUntil: number | undefined;
}

/**
 * @param owners the caller's run and pet lock. Their lease blocks the caller only while a request of another process
 * that wrote the run may still arrive
 * @param me the id of the asking process
 * @returns who blocks the pet; undefined if the caller may write the pet's stock. `until` is by the state's clock
 */
export function blockedBy(
  lease: Lease | undefined,
  owners: readonly string[],
  me: string,
  now: number,
): Busy | undefined {
  if (lease === undefined) return undefined;
  const { owner, run, holder, isHeld, inFlightUntil } = lease;
  const until = inFlightUntil !== undefined && inFlightUntil > now ? inFlightUntil : undefined;
  if (owners.includes(owner)) {
    // If the run was taken over, a request of its previous process may still arrive.
    const isOurs = holder === undefined || holder === me;
    return isOurs || until === undefined ? undefined : { run, until };
  }
  if (isHeld) return { run, until: undefined };
  return until === undefined ? undefined : { run, until };
}

/** A write to a pet by another run. */
export interface ConcurrentWrite {
  readonly run: string;
  readonly command: string;
  readonly result: RecordedResult;
  readonly touched: number;
  /** When the write's request can no longer be in flight, if its result is unknown. */
  readonly inFlightUntil: number | undefined;
}

/**
 * @param writers writes of other runs, in any order
 * @param pruned the sequence number of the pet's last write that was removed from the history
 * @returns the run that has written the stock since the read version, or may have; undefined if there is none.
 * `inFlightUntil` is set if an earlier request of unknown outcome could still arrive after the read. `run` is undefined
 * if that run was removed from the history
 */
export function supersededBy(
  writers: readonly ConcurrentWrite[],
  pruned: number | undefined,
  since: ReadVersion,
):
  | { readonly run: string | undefined; readonly command: string; readonly inFlightUntil?: number | undefined }
  | undefined {
  const newest = writers.toSorted((a, b) => b.touched - a.touched);
  const isPossible = ({ result }: ConcurrentWrite) => possibleWrites.includes(result);
  const later = newest.find((writer) => writer.touched > since.sequence && isPossible(writer));
  const arriving = ({ result, inFlightUntil }: ConcurrentWrite) =>
    result === 'unknown' && (inFlightUntil ?? 0) > since.at;
  if (later !== undefined) return { run: later.run, command: later.command };
  const writer = newest.find(arriving);
  if (writer !== undefined) return { run: writer.run, command: writer.command, inFlightUntil: writer.inFlightUntil };
  return (pruned ?? 0) > since.sequence ? { run: undefined, command: 'history prune' } : undefined;
}

/**
 * Returns the new result of a row after an outcome; undefined if the row stays as it is.
 * @param isTakenOver whether another process has taken the run over. If so, only an unknown row changes, and only if
 * the outcome is that it was written
 */
export function nextResult(
  known: RecordedResult,
  outcome: Outcome['result'],
  isTakenOver: boolean,
): RecordedResult | undefined {
  const isAnswer = outcome === 'applied' || outcome === 'differs';
  if (isTakenOver && (known !== 'unknown' || !isAnswer)) return undefined;
  const became = outcome === 'void' ? 'pending' : outcome;
  // A row is unknown from its intent on, so an unknown outcome is written, too: it adds the error.
  return became === known && became !== 'unknown' ? undefined : became;
}

/** Reports whether the state lacks sequence numbers that this process has seen. */
export function hasLostWrites(last: number, highestSeen: number, since: ReadVersion | undefined): boolean {
  return last < Math.max(highestSeen, since?.sequence ?? 0);
}

/** The properties that decide whether a run may be removed from the history. */
export type PrunableRun = Pick<RunRecord, 'run' | 'state' | 'undoes' | 'began' | 'touched'>;

/**
 * Returns which of the wanted runs may be removed, in the order of `all`. Runs stay if they were touched after the
 * start of the oldest run that is open, resumable or being undone. The undo of a run that stays also stays: without it,
 * the run could be undone twice.
 * @param all all runs of the state, in any order
 * @param wanted ids of runs; those that could be resumed are removed, too
 */
export function removableRuns(all: readonly PrunableRun[], wanted: ReadonlySet<string>): string[] {
  const isOpen = ({ run, state }: PrunableRun) => state === 'running' || (state === 'incomplete' && !wanted.has(run));
  const undone = new Set(all.filter(isOpen).flatMap(({ undoes }) => undoes ?? []));
  const relying = all.filter((run) => isOpen(run) || undone.has(run.run));
  const floor = relying.reduce((least, { began }) => Math.min(least, began), Number.POSITIVE_INFINITY);
  const gone = new Set<string>();
  const known = new Set(all.map(({ run }) => run));
  // Visits the oldest first, because a run is always older than its undo.
  for (const run of all.toSorted((a, b) => a.began - b.began)) {
    if (!wanted.has(run.run) || isOpen(run) || run.touched > floor) continue;
    const target = run.undoes;
    if (target === undefined || !known.has(target) || gone.has(target)) gone.add(run.run);
  }
  return all.flatMap(({ run }) => (gone.has(run) ? [run] : []));
}
