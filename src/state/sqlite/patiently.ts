import type { Clock } from '../../shared/clock.ts';
import { UnavailableError } from '../../shared/errors.ts';
import { retryBusy } from '../../shared/sqlite-engine.ts';
import { isBusy } from './sqlite-errors.ts';

/** Milliseconds between attempts. SQLite hands the lock to whoever asks at the right moment: on a busy machine one may wait for long. */
const pauses: readonly number[] = [50, 50];

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
export function patiently<Result>({ isAnyStopped, clock }: Patience, work: () => Result): Promise<Result> {
  const mayHelp = (error: unknown) => error instanceof UnavailableError && isBusy(error.cause) && !isAnyStopped();
  return retryBusy(work, pauses, (ms) => clock.sleep(ms), mayHelp);
}
