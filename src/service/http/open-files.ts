import { readFileSync } from 'node:fs';

/** Returns how many files this process may have open, its connections included; a usual number where the system does not say. */
export function openFiles(): number {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? USUAL);
  } catch {
    return USUAL;
  }
}

const USUAL = 1_024;
