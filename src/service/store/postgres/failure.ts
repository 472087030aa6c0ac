import { StorageError } from '../store.ts';

/** SQLSTATEs after which the same work may be done again at once: a deadlock, or a snapshot that could not be kept. */
const AGAIN = ['40001', '40P01'];

/** Classes that say that the connection is over, so that the outcome of what was under way is not known. */
const LOST = /^(08|57P)/;

/**
 * Codes after which the connection is of no use, and nothing was done: a server that has become a standby, and a transaction that
 * has been idle for too long.
 */
const USELESS = ['25006', '25P03'];

/**
 * What PostgreSQL or the way to it says, as an error of the store.
 * @param mayBeDone whether a change was on its way when the connection was lost
 */
export function failure(error: unknown, mayBeDone: boolean): StorageError {
  if (error instanceof StorageError) return error;
  const code = codeOf(error);
  const message = error instanceof Error && error.message !== '' ? error.message : `PostgreSQL failed: ${code}`;
  // An array of attempts has no message of its own: one for each address of a host.
  return new StorageError(message, { cause: error, isUncertain: mayBeDone && !USELESS.includes(code) });
}

/** As the database answers a write that it does not take. */
export function readOnly(): Error {
  return Object.assign(new Error('The database takes no writes: it is read-only, or a standby'), { code: '25006' });
}

/** True when it is certain that nothing was done, and it may help to try again. */
export function isTransient(error: unknown): boolean {
  return AGAIN.includes(codeOf(error));
}

/** True when the connection is of no use any more: it failed, rather than a statement, or it leads to a standby. */
export function isLost(error: unknown): boolean {
  const code = codeOf(error);
  return !/^[0-9A-Z]{5}$/.test(code) || LOST.test(code) || USELESS.includes(code) || code === 'EPIPE';
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
