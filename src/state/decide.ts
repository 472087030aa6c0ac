import type { RecordedResult, RunRecord } from '../inventory/run-records.ts';
import type { ProcessIdentity } from '../shared/processes.ts';
import type { Busy, Outcome } from './history.ts';

/**
 * The rules of writes, as functions of rows that a driver has loaded under its lock:
 *
 * - A process is alive as long as its lease lasts, unless it has certainly ended.
 * - A pet is locked while a live process holds its lease, or while a request of a dead process may still be in flight.
 * - A write that relies on a stock is overtaken if another run has written the pet since the mark, or may have.
 * - An outcome is final: what one process has settled, another does not settle again.
 * - Rows are removed from the history only if no run that is open, resumable or being undone may still need them.
 *
 * Times are milliseconds by the clock of the state.
 */

/** How long a lease of a process lasts, and when it is renewed; milliseconds. */
export const processLease = { lasts: 15_000, renewedAfter: 5000 } as const;

/** Results of a row that has changed the stock, or may have. */
export const possibleWrites = ['applied', 'differs', 'unknown'] as const satisfies readonly RecordedResult[];

/** A process in the table of those that write. */
export interface Holder {
  readonly identity: ProcessIdentity;
  /** When its lease ends. Of another start of the machine: as far as this one has seen it. */
  readonly ends: number;
}

/** @param isGone whether a process has certainly ended; false is inconclusive */
export function isAlive({ identity, ends }: Holder, now: number, isGone: (process: ProcessIdentity) => boolean) {
  return ends > now && !isGone(identity);
}

/** A moment in the order of all writes. */
export interface ReadVersion {
  /** Writes up to this one had their outcome. */
  readonly sequence: number;
  /** By the monotonic clock. A write whose request could still arrive after it counts as later. */
  readonly at: number;
}

/** Who writes a pet. */
export interface Lease {
  /** A place in the line, or a run. */
  readonly owner: string;
  readonly run: string | undefined;
  /** Undefined: only a request is still on its way. */
  readonly holder: string | undefined;
  /** Whether its holder is alive. */
  readonly isHeld: boolean;
  /** Until when a request of it may arrive; undefined before the first intent. */
  readonly inFlightUntil: number | undefined;
}

/**
 * @param owners whose lease is not in the way
 * @param me the process that asks
 * @returns who is writing the pet; undefined if it is free, or has one of the owners. `until` is by the clock of the state
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
    // A run that was taken over: what the process before has sent may still arrive.
    const isOurs = holder === undefined || holder === me;
    return isOurs || until === undefined ? undefined : { run, until };
  }
  if (isHeld) return { run, until: undefined };
  return until === undefined ? undefined : { run, until };
}

/** A write of a pet by another run. */
export interface ConcurrentWrite {
  readonly run: string;
  readonly command: string;
  readonly result: RecordedResult;
  readonly touched: number;
  /** Until when its request may arrive, if its result is unknown. */
  readonly inFlightUntil: number | undefined;
}

/**
 * @param writers of other runs, in any order
 * @param pruned the number of the last write of the pet whose row was removed
 * @returns who has written the pet since the mark, or whose request could still arrive after it: `inFlightUntil`; without a run if its row was removed
 */
export function supersededBy(
  writers: readonly ConcurrentWrite[],
  pruned: number | undefined,
  since: ReadVersion,
):
  | { readonly run: string | undefined; readonly command: string; readonly inFlightUntil?: number | undefined }
  | undefined {
  const newest = writers.toSorted((a, b) => b.touched - a.touched);
  const isPossible = ({ result }: ConcurrentWrite) => (possibleWrites as readonly string[]).includes(result);
  const later = newest.find((writer) => writer.touched > since.sequence && isPossible(writer));
  const arriving = ({ result, inFlightUntil }: ConcurrentWrite) =>
    result === 'unknown' && (inFlightUntil ?? 0) > since.at;
  if (later !== undefined) return { run: later.run, command: later.command };
  const writer = newest.find(arriving);
  if (writer !== undefined) return { run: writer.run, command: writer.command, inFlightUntil: writer.inFlightUntil };
  return (pruned ?? 0) > since.sequence ? { run: undefined, command: 'history prune' } : undefined;
}

/**
 * Returns what a row becomes by an outcome; undefined if it stays as it is.
 * @param isTakenOver another process has the run: what that has settled since stays, and so does what it may be sending, unless an answer says
 *   that it was written
 */
export function nextResult(
  known: RecordedResult,
  outcome: Outcome['result'],
  isTakenOver: boolean,
): RecordedResult | undefined {
  const isAnswer = outcome === 'applied' || outcome === 'differs';
  if (isTakenOver && (known !== 'unknown' || !isAnswer)) return undefined;
  const became = outcome === 'void' ? 'pending' : outcome;
  // Written again: the process does not know that it was kept.
  return became === known && became !== 'unknown' ? undefined : became;
}

/**
 * Reports whether sequence numbers already seen are missing, which means that an older copy of the state was restored.
 */
export function hasLostWrites(last: number, highestSeen: number, since: ReadVersion | undefined): boolean {
  return last < Math.max(highestSeen, since?.sequence ?? 0);
}

/** The facts that decide whether a run may be removed from the history. */
export type PrunableRun = Pick<RunRecord, 'run' | 'state' | 'undoes' | 'began' | 'touched'>;

/**
 * Returns which of the wanted runs may be removed, in the order given. Nothing newer than the oldest run that stays and is open, can be resumed
 * or is being undone goes, nor the undo of a run that stays: without it that could be undone twice.
 *
 * @param all runs of the state, in any order
 * @param wanted ids. Runs that can be resumed are removed with the rest if they are among them
 */
export function removableRuns(all: readonly PrunableRun[], wanted: ReadonlySet<string>): string[] {
  const isOpen = ({ run, state }: PrunableRun) => state === 'running' || (state === 'incomplete' && !wanted.has(run));
  const undone = new Set(all.filter(isOpen).flatMap(({ undoes }) => undoes ?? []));
  const relying = all.filter((run) => isOpen(run) || undone.has(run.run));
  const floor = relying.reduce((least, { began }) => Math.min(least, began), Number.POSITIVE_INFINITY);
  const gone = new Set<string>();
  const known = new Set(all.map(({ run }) => run));
  // From the oldest on: what is undone is older than its undo.
  for (const run of all.toSorted((a, b) => a.began - b.began)) {
    if (!wanted.has(run.run) || isOpen(run) || run.touched > floor) continue;
    const target = run.undoes;
    if (target === undefined || !known.has(target) || gone.has(target)) gone.add(run.run);
  }
  return all.flatMap(({ run }) => (gone.has(run) ? [run] : []));
}
