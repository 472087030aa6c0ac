import { WaitingChunks } from './waiting-chunks.ts';

/** Bytes that are kept for a reader who is slower than the connection, before that is asked to wait. */
const highWaterMark = 128 * 1024;

/** What gives the bytes: it can be asked to wait. */
interface Source {
  pause(): void;
  resume(): void;
}

/** A body on its way from a connection to its reader. Read once only. */
export class BodyQueue implements AsyncIterable<Uint8Array> {
  readonly #source: Source;
  readonly #waiting = new WaitingChunks();
  #isPaused = false;
  #ending: { readonly error?: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(source: Source) {
    this.#source = source;
  }

  push(chunk: Uint8Array): void {
    this.#waiting.add(chunk);
    if (this.#waiting.bytes >= highWaterMark && !this.#isPaused) {
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

  /** All of it, where it has come to its end; else undefined, and nothing is taken. */
  takeWhole(): Uint8Array | undefined {
    if (this.#ending !== whole) return undefined;
    const [first, ...others] = this.#take();
    return first !== undefined && others.length === 0 ? first : Buffer.concat(first ? [first, ...others] : []);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      if (this.#waiting.bytes > 0) {
        yield* this.#take();
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

  #take(): readonly Uint8Array[] {
    const taken = this.#waiting.take();
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#source.resume();
    }
    return taken;
  }

  #wakeUp(): void {
    const waker = this.#wake;
    this.#wake = undefined;
    waker?.();
  }
}

const whole: { readonly error?: unknown } = {};
