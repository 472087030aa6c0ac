/** Bytes that are kept for a reader who is slower than the connection, before that is asked to wait. */
const highWaterMark = 128 * 1024;

/** The source of the bytes: it can be asked to wait. */
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

  /** All of it, if it has come to its end; else undefined, and nothing is taken. */
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

/** Smaller chunks, in bytes, are put together: what a chunk costs on its way would be more than what its bytes cost. */
const smallChunk = 4 * 1024;
const mergedSize = 64 * 1024;

/** The chunks of a body that have come and are not taken yet. */
export class WaitingChunks {
  /** How many bytes are waiting. */
  bytes = 0;
  #chunks: Uint8Array[] = [];
  /** The small chunks that came last are its first `#mergedLength` bytes. */
  #merged: Uint8Array | undefined;
  #mergedLength = 0;

  add(chunk: Uint8Array): void {
    this.bytes += chunk.length;
    // The first is kept as it is, since most answers are one chunk.
    const isFirst = this.#merged === undefined && this.#chunks.length === 0;
    if (isFirst || chunk.length >= smallChunk) {
      this.#closeMerged();
      this.#chunks.push(chunk);
      return;
    }
    if (this.#mergedLength + chunk.length > mergedSize) this.#closeMerged();
    this.#merged ??= new Uint8Array(mergedSize);
    this.#merged.set(chunk, this.#mergedLength);
    this.#mergedLength += chunk.length;
  }

  /** All of them, in their order; they are not waiting any more. */
  take(): readonly Uint8Array[] {
    this.#closeMerged();
    const taken = this.#chunks;
    this.#chunks = [];
    this.bytes = 0;
    return taken;
  }

  #closeMerged(): void {
    if (this.#merged === undefined) return;
    this.#chunks.push(this.#merged.subarray(0, this.#mergedLength));
    this.#merged = undefined;
    this.#mergedLength = 0;
  }
}
