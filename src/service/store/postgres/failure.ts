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
 * Returns an error of PostgreSQL, or of the way to it, as one of the store.
 * @param mayBeDone whether a change was on its way when the connection was lost
 */
export function failure(error: unknown, mayBeDone: boolean): StorageError {
  if (error instanceof StorageError) return error;
  const code = codeOf(error);
  // An array of attempts has no message of its own: one for each address of a host.
  const said = error instanceof Error && error.message !== '' ? error.message : `PostgreSQL failed: ${code}`;
  if (code === DENIED) return new StorageError(`${said}. ${RIGHTS}`, 'unusable', { cause: error });
  const isUncertain = mayBeDone && !USELESS.includes(code);
  const kind = isUncertain ? 'uncertain' : STARTING.test(code) ? 'starting' : 'failed';
  return new StorageError(said, kind, { cause: error });
}

const DENIED = '42501';

/** The statements that let a role serve a schema which another one owns and upgrades. */
export const GRANTS = [
  'GRANT USAGE ON SCHEMA petstock_service TO staging',
  'GRANT SELECT, UPDATE ON petstock_service.service TO staging',
  'GRANT SELECT, INSERT, UPDATE ON petstock_service.keys TO staging',
  'GRANT SELECT, INSERT, UPDATE, DELETE ON petstock_service.pets, petstock_service.orders TO staging',
];

const RIGHTS = `The owner of the schema makes and upgrades its tables, and lets the role staging serve it by: ${GRANTS.join('; ')}`;

/** Codes of a database that is being started or has no connection free, or of its machine. */
const STARTING =
  /^(57P03|53300|25006|ECONNREFUSED|ECONNRESET|ENOENT|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;

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
