import { randomBytes } from 'node:crypto';
import { type ResultSets, type Statement, statement } from './statements.ts';

/**
 * A transaction, written as a generator. It yields batches of queries, receives their rows, and leaves its writes in
 * `TransactionContext.writes`. The driver runs it under a lock and makes no decisions. It must be idempotent: if the reply to its
 * commit is lost, it runs again from the start.
 */
export type TransactionSteps<Result> = Generator<readonly Statement[], Result, ResultSets>;
/** Begins a work at a moment. */
export type TransactionBody<Result> = (at: TransactionContext) => TransactionSteps<Result>;

/** The times of a work. Exact once its first round was answered, under the lock. */
export interface TransactionContext {
  /** Milliseconds by the clock of the state, which counts only within `boot`. */
  readonly now: number;
  /** Milliseconds since the Unix epoch, for people. */
  readonly wall: number;
  readonly boot: string;
  /** Statements that are written at the end of the work, in this order. */
  readonly writes: Statement[];
  /** How many numbers they draw. */
  allocated: number;
}

/** Converts times between this process's monotonic clock and the state's clock. */
export interface StateTime {
  /** The time of the state at a moment of the monotonic clock, or earlier. */
  earliest(at: number): number;
  /** The same, or later. */
  latest(at: number): number;
  /** The moment of the monotonic clock at a time of the state, or later. */
  localLatest(time: number): number;
}

/**
 * `quick`: visible to every process at once, but a power cut may lose it. `brief`: like `quick`, but abandoned if the
 * lock is not free within a moment. `durable`: on disk when the promise resolves.
 */
export type Durability = 'visible' | 'bestEffort' | 'durable';

/** The work of a driver: load and store. */
export interface StateDatabase {
  /** `The state in /home/ann/.local/state/petstock/state.db`, for messages. */
  readonly name: string;
  readonly time: StateTime;
  /** The time now, as far as it is known without a question. */
  readonly moment: Omit<TransactionContext, 'writes' | 'allocated'>;
  /** Counts the connections: what was written quickly by one before this one may be lost. */
  readonly generation: number;
  /** Whether the state is still the one that was opened. */
  readonly isInPlace: boolean;
  /**
   * Runs a work in one transaction. What it relies on is locked: all works of one service are one after the other.
   * @param service the name of the service whose rows it changes
   */
  transact<Result>(kind: Durability, service: string | undefined, work: TransactionBody<Result>): Promise<Result>;
  /** Reads without a lock, all in one round. */
  query(...statements: readonly Statement[]): Promise<ResultSets>;
  /** Gives the space of removed rows back to the system, as far as that is possible now. @param how `isBrief`: only if that takes no time */
  reclaim(how?: { readonly isBrief: boolean }): Promise<void>;
}

/** Runs a work without a lock, for what is only looked at; what it has to write is written if it can be. */
export async function readWithoutLock<Result>(database: StateDatabase, work: TransactionBody<Result>): Promise<Result> {
  const at: TransactionContext = { ...database.moment, writes: [], allocated: 0 };
  const steps = work(at);
  let step = steps.next([]);
  while (!step.done) {
    const answers = await database.query(...step.value);
    Object.assign(at, database.moment);
    step = steps.next(answers);
  }
  if (at.writes.length > 0) await writeOnly(database, undefined, () => at.writes).catch(() => {});
  return step.value;
}

/** Writes what nothing has to be asked for. */
export function writeOnly(
  database: StateDatabase,
  service: string | undefined,
  writesAt: (at: TransactionContext) => Statement[],
): Promise<void> {
  // biome-ignore lint/correctness/useYield: it asks nothing
  return database.transact('visible', service, function* (at) {
    at.writes.push(...writesAt(at));
  });
}

export const selectLast = statement('SELECT last, raised, state FROM petstock.sequence');

/** Draws numbers in the order of all writes for what is written after this. All works lock them before anything else: none waits for another crosswise. */
export function allocateSequence(at: TransactionContext, numbers: number): void {
  const drawing = statement('UPDATE petstock.sequence SET last = last + ?', numbers);
  if (at.allocated === 0) at.writes.unshift(drawing);
  else at.writes.push(drawing);
  at.allocated += numbers;
}

/** In a statement over rows of a run: the number of each, given what `allocateRowSequences` has returned. */
export const numberOfRow = '(SELECT last FROM petstock.sequence) - ? + row';

/** Draws numbers for rows of a run, in their order. */
export function allocateRowSequences(at: TransactionContext, rows: readonly { readonly row: number }[]): number {
  let [first, last] = [Number.POSITIVE_INFINITY, 0];
  for (const { row } of rows) [first, last] = [Math.min(first, row), Math.max(last, row)];
  allocateSequence(at, last - first + 1);
  return last;
}

/** Returns a name that nothing else has. Not by the context: numbers of a test may come again. */
export function uniqueName(): string {
  return randomBytes(9).toString('base64url');
}

/** Commands for a POSIX shell that move the state to a folder that can be used: hints. */
export const otherFolderHint = 'export PETSTOCK_STATE_DIR="$HOME/.petstock-state"';
/** On this machine even where the home is on a network. */
export const localFolderHint = 'export PETSTOCK_STATE_DIR="/var/tmp/petstock-$USER"';
