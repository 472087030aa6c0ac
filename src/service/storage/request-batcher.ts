import { setImmediate as endOfTurn } from 'node:timers/promises';

/** Maximum size of a batch, so that no response waits for too many others. */
const MOST = 500;

interface Waiting<Asked, Result> {
  readonly asked: Asked;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Batches the requests of one turn of the event loop, or those made while the previous batch is running. One
 * transaction or round trip then serves the batch, in order.
 */
export class RequestBatcher<Asked, Result> {
  #waiting: Waiting<Asked, Result>[] = [];
  #running: Promise<void> | null = null;

  /** @param work returns the results in order; if it throws, all requests of the batch fail with its error */
  constructor(private readonly work: (asked: readonly Asked[]) => Promise<readonly Result[]>) {}

  run(asked: Asked): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ asked, resolve, reject });
      this.#running ??= this.#drain();
    });
  }

  /** Resolves once all requests have completed or failed. */
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
