import { readFileSync } from 'node:fs';

/** Returns how many files and connections this process may have open, as Linux reports it; 1,024 if it is not known. */
export function openFiles(): number {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? USUAL);
  } catch {
    return USUAL;
  }
}

const USUAL = 1_024;
