import { StorageError } from '../store.ts';

/** SQLSTATEs after which the same work may be done again at once: a deadlock, or a snapshot that could not be kept. */
const AGAIN = ['40001', '40P01'];

/** Classes that say that the connection is over, so that the outcome of what was under way is not known. */
const LOST = /^(08|57P)/;

/** What PostgreSQL or the way to it says, as an error of the store. @param mayBeDone whether a change was on its way */
export function failure(error: unknown, mayBeDone: boolean): StorageError {
  if (error instanceof StorageError) return error;
  const code = codeOf(error);
  const message = error instanceof Error && error.message !== '' ? error.message : `PostgreSQL failed: ${code}`;
  // An array of attempts has no message of its own: one for each address of a host.
  return new StorageError(message, { cause: error, isUncertain: mayBeDone && isLost(error) });
}

/** True when it is certain that nothing was done, and it may help to try again. */
export function isTransient(error: unknown): boolean {
  return AGAIN.includes(codeOf(error));
}

/** True when the connection failed rather than a statement: what it was doing may have been done. */
export function isLost(error: unknown): boolean {
  const code = codeOf(error);
  return !/^[0-9A-Z]{5}$/.test(code) || LOST.test(code) || code === 'EPIPE';
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
