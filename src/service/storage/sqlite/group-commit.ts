import { RequestBatcher } from '../request-batcher.ts';
import { type Database, guarded, isBusy, patiently, type Statement } from './database.ts';

type Work = () => unknown;
type Outcome = { readonly result: unknown } | { readonly error: unknown };

/**
 * Commits all work of one turn of the event loop in one transaction: with many requests at once, beginning and
 * committing cost more than what is between them.
 *
 * A result is given to no one before it has been committed. When one piece of work fails, the whole group is undone, and each piece is
 * done again in a transaction of its own: nothing of the one that fails stays. So work must be fit to be done again after it was undone.
 */
export class GroupCommit {
  readonly #lane = new RequestBatcher<Work, Outcome>((works) => this.#complete(works));
  readonly #begin: Statement;
  readonly #commit: Statement;

  /**
   * @param ready called at the beginning of each transaction; what it throws is what all of it fails with
   * @param failed called after each transaction that could not be committed
   */
  constructor(
    private readonly database: Database,
    private readonly ready: () => void = () => {},
    private readonly failed: () => void = () => {},
  ) {
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
  }

  /**
   * Runs `work` while the write lock is held, so that what it reads stays true until it is committed.
   * @throws StorageError; then nothing of it has been done
   */
  async run<Result>(work: () => Result): Promise<Result> {
    const outcome = await this.#lane.run(work);
    if ('error' in outcome) throw outcome.error;
    return outcome.result as Result;
  }

  /** Resolves once everything that was asked for has been done, or has failed. */
  idle(): Promise<void> {
    return this.#lane.idle();
  }

  /** Never rejects. */
  async #complete(works: readonly Work[]): Promise<readonly Outcome[]> {
    try {
      return await patiently(() => this.#together(works));
    } catch (error) {
      if (works.length === 1 || isBusy(error)) return works.map(() => ({ error }));
      const outcomes: Outcome[] = [];
      for (const work of works) outcomes.push(...(await this.#complete([work])));
      return outcomes;
    }
  }

  #together(works: readonly Work[]): readonly Outcome[] {
    this.#begin.run();
    try {
      // Not before: who held the lock until now may have changed what is asked here.
      this.ready();
      const outcomes = works.map((work) => ({ result: guarded(work) }));
      this.#commit.run();
      return outcomes;
    } catch (error) {
      this.failed();
      if (this.database.isTransaction) this.database.exec('ROLLBACK');
      throw error;
    }
  }
}
