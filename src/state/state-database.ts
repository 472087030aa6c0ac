import { randomBytes } from 'node:crypto';
import { type ResultSets, type Statement, statement } from './statements.ts';

/**
 * A transaction, written as a generator. It yields batches of statements, receives their rows, and leaves its remaining
 * writes in `TransactionContext.writes`. The driver makes no decisions. The transaction must be idempotent: if the
 * reply to its commit is lost, it runs again from the start.
 */
export type TransactionSteps<Result> = Generator<readonly Statement[], Result, ResultSets>;
export type TransactionBody<Result> = (at: TransactionContext) => TransactionSteps<Result>;

/**
 * The times and the writes of a transaction. In `StateDatabase.transact`, the times are exact and were taken under the
 * lock once the first batch has been answered.
 */
export interface TransactionContext {
  /** Milliseconds by the state's clock, comparable only within `boot`. */
  readonly now: number;
  /** Milliseconds since the Unix epoch. */
  readonly wall: number;
  readonly boot: string;
  /** Statements to run at the end of the transaction, in this order. */
  readonly writes: Statement[];
  /** How many sequence numbers `writes` allocates. */
  allocated: number;
}

/** Converts times between this process's monotonic clock and the state's clock. */
export interface StateTime {
  /** Returns the earliest that the state's time can be at a monotonic time. */
  earliest(at: number): number;
  /** Returns the latest that the state's time can be at a monotonic time. */
  latest(at: number): number;
  /** Returns the latest that the monotonic time can be at a time of the state. */
  localLatest(time: number): number;
}

/**
 * - `visible`: visible to every process at once, but a power cut may lose it
 * - `bestEffort`: like `visible`, but a local state abandons it if the lock is not free within 50 ms
 * - `durable`: on disk when the promise resolves
 */
export type Durability = 'visible' | 'bestEffort' | 'durable';

/** A driver: loads and stores rows. */
export interface StateDatabase {
  /** A name for messages, like `The state in /home/ann/.local/state/petstock/state.db`. */
  readonly name: string;
  readonly time: StateTime;
  /** The current time, as far as it is known without a query. */
  readonly moment: Omit<TransactionContext, 'writes' | 'allocated'>;
  /** Counts connections. Writes of an earlier connection that were not durable may be lost. */
  readonly generation: number;
  /** Whether the file of a local state is still the one that was opened; always true for a shared state. */
  readonly isInPlace: boolean;
  /**
   * Runs a transaction. Transactions of one service run one after the other.
   * @param service the name of the service whose rows are changed; without it, a shared state locks nothing
   */
  transact<Result>(kind: Durability, service: string | undefined, work: TransactionBody<Result>): Promise<Result>;
  /** Reads without a lock, in one batch. */
  query(...statements: readonly Statement[]): Promise<ResultSets>;
  /**
   * Frees the space of removed rows.
   * @param how with `isBrief`, does nothing for a shared state, where reclaiming may take long
   */
  reclaim(how?: { readonly isBrief: boolean }): Promise<void>;
}

/**
 * Runs the queries of `work` without a lock, then its writes in a transaction of their own. An error of these writes is
 * ignored.
 */
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

/** Runs writes in a transaction that does not have to read anything first. */
export function writeOnly(
  database: StateDatabase,
  service: string | undefined,
  writesAt: (at: TransactionContext) => Statement[],
): Promise<void> {
  // biome-ignore lint/correctness/useYield: the transaction runs no query
  return database.transact('visible', service, function* (at) {
    at.writes.push(...writesAt(at));
  });
}

export const selectLast = statement('SELECT last, raised, state FROM petstock.sequence');

/**
 * Allocates sequence numbers, in the order of all writes, for the rows written after this. To prevent deadlocks, the
 * statement that locks the counter comes before all others in `writes`.
 */
export function allocateSequence(at: TransactionContext, numbers: number): void {
  const allocation = statement('UPDATE petstock.sequence SET last = last + ?', numbers);
  if (at.allocated === 0) at.writes.unshift(allocation);
  else at.writes.push(allocation);
  at.allocated += numbers;
}

/** SQL for the sequence number of a row. Its parameter is the result of `allocateRowSequences`. */
export const numberOfRow = '(SELECT last FROM petstock.sequence) - ? + row';

/**
 * Allocates sequence numbers for rows of a run, in their order.
 * @returns the parameter of `numberOfRow`
 */
export function allocateRowSequences(at: TransactionContext, rows: readonly { readonly row: number }[]): number {
  let [first, last] = [Number.POSITIVE_INFINITY, 0];
  for (const { row } of rows) [first, last] = [Math.min(first, row), Math.max(last, row)];
  allocateSequence(at, last - first + 1);
  return last;
}

/** Returns a unique name. It does not use the context's random numbers, because those repeat in tests. */
export function uniqueName(): string {
  return randomBytes(9).toString('base64url');
}

/** A hint: a POSIX shell command that makes petstock use another state folder. It moves no files. */
export const otherFolderHint = 'export PETSTOCK_STATE_DIR="$HOME/.petstock-state"';
/** A hint: a POSIX shell command that makes petstock use a state folder on a local disk. It moves no files. */
export const localFolderHint = 'export PETSTOCK_STATE_DIR="/var/tmp/petstock-$USER"';

/** The consequence of a state that can't be used, for the error of a command that writes. */
export const withoutHistory = 'Nothing can be written without the history. Nothing was sent';
