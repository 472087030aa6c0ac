import { spawn } from 'node:child_process';
import { fstatSync } from 'node:fs';

/**
 * Calls `onGone` once the reader of a pipe is gone. Node notices that only when it writes. GNU tail (since coreutils
 * 8.28) watches its own output while it waits, and SIGPIPE ends it; any other end of it means nothing, as where there is
 * no such tail.
 * @returns a function that ends the watching
 */
export function watchReader(descriptor: number, onGone: () => void): () => void {
  if (!fstatSync(descriptor).isFIFO()) return () => {};
  const words = ['-f', `--pid=${process.pid}`, '/dev/null'];
  const env = { PATH: process.env.PATH };
  const tail = spawn('tail', words, { env, stdio: ['ignore', descriptor, 'ignore'] });
  tail.once('error', () => {});
  tail.once('exit', (_code, signal) => signal === 'SIGPIPE' && onGone());
  tail.unref();
  return () => void tail.kill();
}
