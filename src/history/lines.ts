import { closeSync, openSync, readSync, statSync } from 'node:fs';

const newline = 0x0a;
/** No record is as long. What is, is garbage, and must not fill the memory: a NUL stands for it. */
const longestLine = 1024 * 1024;

/**
 * The lines of a file, a piece of it in memory at a time. The last one need not be ended.
 * @throws where it can't be read
 */
export function* linesOf(path: string): Generator<string> {
  // A device has no end, and a pipe may have no writer.
  if (!statSync(path).isFile()) throw new Error('it is not a file');
  const file = openSync(path, 'r');
  try {
    let rest = Buffer.alloc(0);
    // Most runs are of one row; a small buffer comes from Node's pool, and costs next to nothing.
    for (let size = 2048; ; size = Math.min(size * 16, 1024 * 1024)) {
      const bytes = Buffer.allocUnsafe(size);
      const length = readSync(file, bytes, 0, size, null);
      if (length === 0) break;
      const piece = rest.length === 0 ? bytes.subarray(0, length) : Buffer.concat([rest, bytes.subarray(0, length)]);
      const end = piece.lastIndexOf(newline) + 1;
      if (end > 0) yield* piece.toString('utf8', 0, end - 1).split('\n');
      rest = piece.subarray(end);
      if (rest.length > longestLine) rest = Buffer.of(0);
    }
    if (rest.length > 0) yield rest.toString('utf8');
  } finally {
    closeSync(file);
  }
}
