import { setTimeout as sleep } from 'node:timers/promises';
import { guarded, isBusy } from './database.ts';

/** Milliseconds between attempts, some five seconds in all: the rhythm of SQLite's own waiting. */
const PAUSES: readonly number[] = [1, 2, 5, 10, 15, 20, ...Array<number>(200).fill(25)];

/** The same for a minute: for a whole stock, while another process may be putting in a million pets. */
export const VERY_PATIENT: readonly number[] = [...PAUSES, ...Array<number>(2_200).fill(25)];

/**
 * Does `work` once no other process holds the lock that it needs. SQLite would wait for that itself, but hold up the
 * event loop meanwhile: here other requests go on.
 *
 * @throws StorageError when the lock is not released in time, or for anything else that SQLite says
 */
export async function patiently<Result>(work: () => Result, pauses = PAUSES): Promise<Result> {
  for (const pause of pauses) {
    try {
      return guarded(work);
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
    await sleep(pause);
  }
  return guarded(work);
}
