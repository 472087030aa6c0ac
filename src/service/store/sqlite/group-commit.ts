import { setImmediate as endOfTurn } from 'node:timers/promises';
import { patiently } from './busy-retry.ts';
import { type Database, guarded, isBusy, type Statement } from './database.ts';

/** Something that gathers changes during a transaction and writes them at its end. */
export interface Participant {
  /** Writes what has been gathered; the commit follows. */
  flush(): void;
  /** Forgets it: the transaction has ended, one way or the other. */
  forget(): void;
}

interface Job {
  /** Does the work. `tell` is for when its outcome has been committed. */
  attempt(): { readonly error?: unknown; tell(): void };
  fail(error: unknown): void;
}

/**
 * Commits all work of one turn of the event loop in one transaction: with many requests at once, beginning and
 * committing cost more than what is between them.
 *
 * A result is given to no one before it has been committed. Work that fails takes nothing else with it: its statement
 * is undone alone, or, where SQLite undoes the whole transaction, everything is done again, each in one of its own.
 * So work must be fit to be done again after it was undone, and make its changes in a single statement.
 */
export class GroupCommit {
  readonly #database: Database;
  readonly #participant: Participant;
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #ready: () => void;
  readonly #ended: (error?: unknown) => void;
  #waiting: Job[] = [];
  #turn: Promise<void> | null = null;

  /**
   * @param ready called before each transaction; what it throws is what all of it fails with
   * @param ended called after each transaction; if it could not be committed, with the error
   */
  constructor(
    database: Database,
    participant: Participant,
    ready: () => void = () => {},
    ended: (error?: unknown) => void = () => {},
  ) {
    this.#ready = ready;
    this.#ended = ended;
    this.#database = database;
    this.#participant = participant;
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
  }

  /**
   * Runs `work` while the write lock is held, so that what it reads stays true until it is committed.
   * @throws StorageError; then nothing of it has been done
   */
  run<Result>(work: () => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        attempt: () => {
          try {
            const result = guarded(work);
            return { tell: () => resolve(result) };
          } catch (error) {
            return { error, tell: () => reject(error) };
          }
        },
        fail: reject,
      });
      this.#schedule();
    });
  }

  /** Resolves once everything that was asked for has been done, or has failed. */
  async idle(): Promise<void> {
    while (this.#turn !== null) await this.#turn;
  }

  #schedule(): void {
    this.#turn ??= endOfTurn().then(async () => {
      const jobs = this.#waiting;
      this.#waiting = [];
      await this.#complete(jobs);
      this.#turn = null;
      if (this.#waiting.length > 0) this.#schedule();
    });
  }

  /** Never rejects. */
  async #complete(jobs: readonly Job[]): Promise<void> {
    try {
      for (const { tell } of await patiently(() => this.#together(jobs))) tell();
    } catch (error) {
      if (jobs.length === 1 || isBusy(error)) for (const job of jobs) job.fail(error);
      else for (const job of jobs) await this.#complete([job]);
    }
  }

  #together(jobs: readonly Job[]) {
    this.#ready();
    this.#begin.run();
    try {
      const outcomes = jobs.map((job) => {
        const outcome = job.attempt();
        if (outcome.error !== undefined && !this.#database.isTransaction) throw outcome.error;
        return outcome;
      });
      this.#participant.flush();
      this.#commit.run();
      this.#ended();
      return outcomes;
    } catch (error) {
      this.#ended(error);
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    } finally {
      this.#participant.forget();
    }
  }
}
