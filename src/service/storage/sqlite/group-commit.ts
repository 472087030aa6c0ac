import { RequestBatcher } from '../request-batcher.ts';
import { type Database, guarded, isBusy, retryWhileBusy, type Statement } from './database.ts';

type Work = () => unknown;
type Outcome = { readonly result: unknown } | { readonly error: unknown };

/**
 * Commits all work of one turn of the event loop in one transaction, because beginning and committing cost more than
 * the work itself.
 *
 * Results are returned only after the commit. If one piece of work fails, the whole group is undone, and each piece
 * runs again in its own transaction, so that the failed one leaves nothing behind. The work must therefore be
 * repeatable.
 */
export class GroupCommit {
  readonly #lane = new RequestBatcher<Work, Outcome>((works) => this.#complete(works));
  readonly #begin: Statement;
  readonly #commit: Statement;

  /**
   * @param ready called at the beginning of each transaction; if it throws, all work of the transaction fails with that
   * error
   * @param failed called after each transaction that had begun and could not be committed
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
   * Runs `work` while the write lock is held, so that the data that it reads stays valid until the commit.
   * @throws the error of `work`, or StorageError; then nothing was changed
   */
  async run<Result>(work: () => Result): Promise<Result> {
    const outcome = await this.#lane.run(work);
    if ('error' in outcome) throw outcome.error;
    return outcome.result as Result;
  }

  /** Resolves once all requested work has completed or failed. */
  idle(): Promise<void> {
    return this.#lane.idle();
  }

  /** Returns the outcome of each piece of work. Never rejects. */
  async #complete(works: readonly Work[]): Promise<readonly Outcome[]> {
    try {
      return await retryWhileBusy(() => this.#together(works));
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
      // Called under the lock, because its previous holder may have changed what this checks.
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
