import process from 'node:process';

/** The user (uid) that this process acts as; undefined if files have no such owner (Windows). */
export function effectiveUser(): number | undefined {
  return process.geteuid?.();
}
