import { setImmediate as endOfTurn } from 'node:timers/promises';

/** So many together at most: an answer is not to wait for a thousand others. */
const MOST = 500;

interface Waiting<Asked, Result> {
  readonly asked: Asked;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Does in batches all that is asked for in a turn of the event loop, or while the batch before is under way: with many requests at
 * once a transaction or a round trip serves all of them. The order in which they were asked stays.
 */
export class RequestBatcher<Asked, Result> {
  #waiting: Waiting<Asked, Result>[] = [];
  #running: Promise<void> | null = null;

  /** @param work gives the result of each, in their order; what it throws is what all of them fail with */
  constructor(private readonly work: (asked: readonly Asked[]) => Promise<readonly Result[]>) {}

  run(asked: Asked): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ asked, resolve, reject });
      this.#running ??= this.#drain();
    });
  }

  /** Resolves once everything that was asked for has been done, or has failed. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  async #drain(): Promise<void> {
    do {
      await endOfTurn();
      await this.#complete(this.#waiting.splice(0, MOST));
    } while (this.#waiting.length > 0);
    this.#running = null;
  }

  async #complete(batch: readonly Waiting<Asked, Result>[]): Promise<void> {
    try {
      const results = await this.work(batch.map(({ asked }) => asked));
      for (const [at, { resolve }] of batch.entries()) resolve(results[at] as Result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
