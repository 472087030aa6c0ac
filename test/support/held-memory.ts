import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/**
 * What is held, in MB: objects, and what is outside of the heap for them. V8 frees array buffers in a thread of its own after a
 * collection, so that one is not enough on a busy machine: it is collected until nothing more goes.
 */
export async function heldMb(): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let rest = 3; rest > 0; rest -= 1) {
    collectGarbage();
    await setImmediate();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    const held = (heapUsed + arrayBuffers) / 1e6;
    if (held < least - 0.01) rest = 3;
    least = Math.min(least, held);
  }
  return least;
}
