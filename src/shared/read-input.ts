import { createReadStream } from 'node:fs';

/** In bytes. */
const pieceSize = 256 * 1024;

/**
 * Returns the bytes of a file or a pipe as they come. An interruption ends it even while the system blocks, as with a pipe that
 * nobody writes to.
 * @throws the error of `node:fs`; the reason of the interruption
 */
export async function* readInput(path: string, interrupted: AbortSignal): AsyncGenerator<Uint8Array, void> {
  interrupted.throwIfAborted();
  const stream = createReadStream(path, { highWaterMark: pieceSize });
  const pieces = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  let stop = (): void => {};
  const stopped = new Promise<never>((_resolve, reject) => {
    stop = () => reject(interrupted.reason);
  });
  stopped.catch(() => {});
  interrupted.addEventListener('abort', stop, { once: true });
  try {
    for (;;) {
      const next = pieces.next();
      // It may fail once nobody waits for it.
      next.catch(() => {});
      const { done, value } = await Promise.race([next, stopped]);
      if (done) return;
      yield value;
    }
  } finally {
    interrupted.removeEventListener('abort', stop);
    stream.destroy();
  }
}
