import { HeldBytes } from './body.ts';

/** Number of unread bytes at which the connection is paused. */
const highWaterMark = 1024 * 1024;

interface Source {
  pause(): void;
  resume(): void;
}

/**
 * A response body between its connection and its reader. It can be read once, and each chunk is valid until the next
 * one is requested.
 */
export class BodyQueue implements AsyncIterable<Uint8Array> {
  readonly #source: Source;
  /** Bytes that the reader has not received yet. */
  #waiting = new HeldBytes();
  /** Bytes of the chunk that the reader has. */
  #taken = new HeldBytes();
  #isPaused = false;
  #ending: { readonly error?: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(source: Source) {
    this.#source = source;
  }

  push(chunk: Uint8Array): void {
    this.#waiting.add(chunk);
    if (this.#waiting.length >= highWaterMark && !this.#isPaused) {
      this.#isPaused = true;
      this.#source.pause();
    }
    this.#wakeUp();
  }

  end(): void {
    this.#ending ??= {};
    this.#wakeUp();
  }

  /** Fails the body: the reader gets the remaining bytes, then the error. */
  fail(error: unknown): void {
    this.#ending ??= { error };
    this.#wakeUp();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      if (this.#waiting.length > 0) {
        yield this.#take();
      } else if (this.#ending !== undefined) {
        if ('error' in this.#ending) throw this.#ending.error;
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  #take(): Uint8Array {
    [this.#waiting, this.#taken] = [this.#taken, this.#waiting];
    this.#waiting.clear();
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#source.resume();
    }
    return this.#taken.bytes;
  }

  #wakeUp(): void {
    const waker = this.#wake;
    this.#wake = undefined;
    waker?.();
  }
}
