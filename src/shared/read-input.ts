import { createReadStream } from 'node:fs';
import { orInterrupted } from './or-interrupted.ts';

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
  try {
    for (;;) {
      const { done, value } = await orInterrupted(pieces.next(), interrupted);
      if (done) return;
      yield value;
    }
  } finally {
    stream.destroy();
  }
}
