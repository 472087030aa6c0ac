import { type BigIntStats, fstatSync, statSync } from 'node:fs';

/**
 * Whether two names are of one file, links of both kinds followed. What is no file, such as a pipe, is the same as no other.
 * @param one a path, or an open descriptor
 */
export function isSameFile(one: string | number, other: string): boolean {
  const [first, second] = [statsOf(one), statsOf(other)];
  if (!first?.isFile() || !second?.isFile()) return false;
  return first.ino === second.ino && first.dev === second.dev;
}

function statsOf(file: string | number): BigIntStats | undefined {
  try {
    // Windows has numbers that a double can't hold.
    return typeof file === 'number' ? fstatSync(file, { bigint: true }) : statSync(file, { bigint: true });
  } catch {
    return undefined;
  }
}
