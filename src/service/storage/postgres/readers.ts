import { clearTimeout, setTimeout } from 'node:timers';
import { StorageError } from '../storage.ts';

interface Waiting {
  readonly who: string;
  begin(): void;
}

/**
 * Shares the connections among readers of whole lists. A reader gets another connection only while it holds fewer than
 * are free. So one reader takes at most half of them, and the rest is left to others.
 */
export class Readers {
  readonly #held = new Map<string, number>();
  #free: number;
  #waiting: readonly Waiting[] = [];

  /**
   * @param count number of connections
   * @param maxWaitMs maximum wait for a connection, in milliseconds
   */
  constructor(
    count: number,
    private readonly maxWaitMs: number,
  ) {
    this.#free = count;
  }

  /**
   * Resolves when it is the turn of `who`, with a function that releases the connection.
   * @throws StorageError if that takes too long
   */
  acquire(who: string): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        who,
        begin: () => {
          clearTimeout(timer);
          this.#change(who, 1);
          resolve(() => {
            this.#change(who, -1);
            this.#admit();
          });
        },
      };
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting);
        reject(new StorageError('Too many lists are being read at the same time, with this key or in total'));
      }, this.maxWaitMs);
      this.#waiting = [...this.#waiting, waiting];
      this.#admit();
    });
  }

  /** Starts all readers whose turn it is, in the order of their requests. */
  #admit(): void {
    for (const waiting of this.#waiting) {
      if (this.#heldBy(waiting.who) >= this.#free) continue;
      this.#waiting = this.#waiting.filter((one) => one !== waiting);
      waiting.begin();
    }
  }

  #heldBy(who: string): number {
    return this.#held.get(who) ?? 0;
  }

  #change(who: string, by: number): void {
    const count = this.#heldBy(who) + by;
    if (count === 0) this.#held.delete(who);
    else this.#held.set(who, count);
    this.#free -= by;
  }
}
