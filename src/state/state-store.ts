import type { Answers, Statement } from './statements.ts';

/** What a transaction has decided: the statements that write it, and the result for its caller. */
export interface Decided<Result> {
  readonly writes: Iterable<Statement>;
  readonly result: Result;
}

export interface Moment {
  /** The store's time, in milliseconds since the Unix epoch. */
  readonly now: number;
  /** The monotonic clock of this process, just before. */
  readonly at: number;
}

export type Decide<Result> = (answers: Answers, moment: Moment) => Decided<Result>;

/**
 * Runs a transaction: asks the questions, decides by the answers, and writes. Transactions of all processes run one
 * after the other. If nothing was written, `decide` may be called again.
 * @param isDurable whether the transaction is on disk when the promise resolves; default false
 */
export type Transact = <Result>(
  questions: readonly Statement[],
  decide: Decide<Result>,
  isDurable?: boolean,
) => Promise<Result>;

/** A lock that ends with the process (or with its connection to the database) at the latest. */
export interface Lock {
  /** Whether the lock has ended without `release`. */
  readonly isLost: boolean;
  /** May be called again. */
  release(): Promise<void>;
}

/** The right to send writes to a service. One process has it at a time. */
export interface Turn extends Lock {
  /** @throws LostConnectionError if the turn has ended, so that nothing is recorded that may no longer be sent */
  readonly transact: Transact;
}

export interface TurnWait {
  /** Whether to let single changes go first. */
  readonly isBulk: boolean;
  readonly signal: AbortSignal;
  /** Called about every second of a wait. May throw to end it. */
  onWait(waitedMs: number): Promise<void>;
}

export interface StoreDescription {
  /** The engine, like `sqlite` or `postgresql 16.4`. */
  readonly engine: string;
  /** A path, or an address without its password. */
  readonly location: string;
  readonly schema: number;
  readonly bytes: number;
}

/** The state that commands share: one SQLite file, or a PostgreSQL schema. It runs transactions and holds locks; it decides nothing. */
export interface Store {
  /** How old an answer may be before it is worth asking again, in milliseconds: 0 if asking costs no round trip. */
  readonly isFreshFor: number;
  /**
   * @throws UnavailableError if the state can't be reached, or is locked for too long; FailureError if it can't be
   * used
   */
  readonly transact: Transact;
  /** Answers questions outside of any transaction. */
  ask(questions: readonly Statement[]): Promise<{ readonly answers: Answers; readonly moment: Moment }>;
  /** Waits for the right to send writes to a service. Single changes go before bulk runs. */
  takeTurn(service: string, wait: TurnWait): Promise<Turn>;
  /**
   * Takes the lock that a process keeps while it writes a run.
   * @param isNew whether the history must not have the run yet
   * @returns undefined while another process, or another call of this one, has it
   */
  lockRun(run: string, isNew?: boolean): Promise<Lock | undefined>;
  /** Returns those of the runs that some process has the lock of. */
  lockedAmong(runs: readonly string[]): Promise<ReadonlySet<string>>;
  /** Removes what the lock of a run leaves behind. Call this only once no row of the run is open. */
  forgetRun(run: string): void;
  describe(): Promise<StoreDescription>;
  /** Returns what is damaged, one line each. */
  check(): Promise<readonly string[]>;
  /** Gives back to the system the space of removed rows. */
  reclaim(): Promise<void>;
  close(): Promise<void>;
}

/** The connection to the database was lost, and the locks with it. */
export class LostConnectionError extends Error {
  override readonly name = 'LostConnectionError';
}
