import { WaitingChunks } from './waiting-chunks.ts';

/** Bytes that are kept for a reader who is slower than the connection, before that is asked to wait. */
const highWaterMark = 128 * 1024;

/** What gives the bytes: it can be asked to wait. */
interface Source {
  pause(): void;
  resume(): void;
}

/** A body on its way from a connection to its reader. Read once only. */
export interface BodyQueue extends AsyncIterable<Uint8Array> {
  push(chunk: Uint8Array): void;
  end(): void;
  /** The reader gets what has come, and then the error. */
  fail(error: unknown): void;
}

export function createBodyQueue(source: Source): BodyQueue {
  const waiting = new WaitingChunks();
  let isPaused = false;
  let ending: { readonly error?: unknown } | undefined;
  let wake: (() => void) | undefined;

  const take = (): readonly Uint8Array[] => {
    const taken = waiting.take();
    if (isPaused) {
      isPaused = false;
      source.resume();
    }
    return taken;
  };
  const wakeUp = (): void => {
    const waker = wake;
    wake = undefined;
    waker?.();
  };

  return {
    push: (chunk) => {
      waiting.add(chunk);
      if (waiting.bytes >= highWaterMark && !isPaused) {
        isPaused = true;
        source.pause();
      }
      wakeUp();
    },
    end: () => {
      ending ??= {};
      wakeUp();
    },
    fail: (error) => {
      ending ??= { error };
      wakeUp();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        if (waiting.bytes > 0) {
          yield* take();
        } else if (ending !== undefined) {
          if ('error' in ending) throw ending.error;
          return;
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    },
  };
}
