import { HeldBytes } from './body.ts';

/** Bytes that are kept for a reader who is slower than the connection, before that is asked to wait. */
const highWaterMark = 1024 * 1024;

/** The source of the bytes: it can be asked to wait. */
interface Source {
  pause(): void;
  resume(): void;
}

/** A body on its way from a connection to its reader. Read once only; what is read is valid until more is asked for. */
export class BodyQueue implements AsyncIterable<Uint8Array> {
  readonly #source: Source;
  /** The bytes that wait. */
  #waiting = new HeldBytes();
  /** Those that the reader has. */
  #taken = new HeldBytes();
  /** The source has been asked to wait. */
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
    this.#ending ??= whole;
    this.#wakeUp();
  }

  /** The reader gets what has come, and then the error. */
  fail(error: unknown): void {
    this.#ending ??= { error };
    this.#wakeUp();
  }

  /** All of it, if it has come to its end; else undefined, and nothing is taken. */
  takeWhole(): Uint8Array | undefined {
    return this.#ending === whole ? this.#take() : undefined;
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

const whole: { readonly error?: unknown } = {};
