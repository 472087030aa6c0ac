import { readFileSync } from 'node:fs';

/** Returns how many files and connections this process may have open; a common value if the system does not report it. */
export function openFiles(): number {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? USUAL);
  } catch {
    return USUAL;
  }
}

const USUAL = 1_024;
