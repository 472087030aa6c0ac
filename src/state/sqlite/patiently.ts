import type { Clock } from '../../shared/clock.ts';
import { UnavailableError } from '../../shared/errors.ts';
import { isBusy } from './sqlite-errors.ts';

/** SQLite hands the lock to whoever asks at the right moment: among many processes on a busy machine one may wait for long. */
const mostAttempts = 3;
/** Between two of them, in milliseconds. */
const pause = 50;

export interface Patience {
  /** Whether another process that has the state open is stopped: it may hold the lock for ever. */
  isAnyStopped(): boolean;
  readonly clock: Pick<Clock, 'sleep'>;
}

/**
 * Runs one transaction, and again where the lock was not to be had. SQLite waits without hearing anything: between two attempts
 * Ctrl-C is heard.
 *
 * @param work is whole or not at all; all that it relies on it looks up itself
 * @throws UnavailableError in the end, or at once if a process that has the state open is stopped
 */
export async function patiently<Result>({ isAnyStopped, clock }: Patience, work: () => Result): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return work();
    } catch (error) {
      const isLocked = error instanceof UnavailableError && isBusy(error.cause);
      if (!isLocked || attempt === mostAttempts || isAnyStopped()) throw error;
      await clock.sleep(pause);
    }
  }
}
