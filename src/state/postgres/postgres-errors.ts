import { FailureError, PetstockError, UnavailableError } from '../../shared/errors.ts';
import { petstock } from '../../shared/hint.ts';

/** SQLSTATE. https://www.postgresql.org/docs/current/errcodes-appendix.html */
const lostStates = /^(08|57P0[123]|25006|25P03)/;
const busyStates = /^(57014|55P03|53300|40001|40P01|58000)/;

/** @returns the SQLSTATE of an error of PostgreSQL itself; undefined for any other, as of the network */
function stateOf(error: unknown): string | undefined {
  const { code, severity } = error as { readonly code?: unknown; readonly severity?: unknown };
  return typeof code === 'string' && typeof severity === 'string' ? code : undefined;
}

/**
 * Whether the connection is gone: it is not known then what became of what was asked. One that has become read-only is a
 * database that another one has taken over from.
 */
export function isLost(error: unknown): boolean {
  if (error instanceof PetstockError || !(error instanceof Error)) return false;
  const state = stateOf(error);
  return state === undefined ? true : lostStates.test(state);
}

/** Whether the answer did not come in time: it would not the next time either. */
export function isSilence(error: unknown): boolean {
  return /read timeout|timeout expired/.test((error as Error).message);
}

/** Whether the server, or the role, has as many connections as it may. Commands are short: there will be one. */
export function isFull(error: unknown): boolean {
  return stateOf(error) === '53300';
}

/** Whether there is no such table or schema. */
export function isMissing(error: unknown): boolean {
  return /^(42P01|3F000)$/.test(stateOf(error) ?? '');
}

/** Returns an error of PostgreSQL or the network, in words. @param shown the address without its password */
export function toPetstockError(error: unknown, shown: string): unknown {
  if (error instanceof PetstockError || !(error instanceof Error)) return error;
  const state = stateOf(error) ?? '';
  const problem = isLost(error)
    ? `can't be reached: ${reasonOf(error)}`
    : busyStates.test(state) && `is too busy: ${error.message}`;
  if (problem !== false) {
    return new UnavailableError(`The shared state at ${shown} ${problem}`, {
      hint: 'petstock state info',
      cause: error,
    });
  }
  const isRefused = state === '42501';
  const hint = isRefused
    ? 'petstock state grant --print <role>'
    : petstock`${/^(28|3D)/.test(state) ? 'config set state-url' : 'state check'}`;
  const { statement } = error as { readonly statement?: string };
  const asked = isRefused && statement ? ` (for "${statement.replace(/\s+/g, ' ').slice(0, 60)}")` : '';
  return new FailureError(`The shared state at ${shown} can't be used: ${error.message}${asked}`, {
    hint,
    cause: error,
  });
}

/** Why a server can't be reached. */
export function reasonOf(error: Error): string {
  const { code, errors } = error as NodeJS.ErrnoException & { readonly errors?: readonly Error[] };
  if (/read timeout/.test(error.message)) return 'it does not answer';
  if (/timeout expired/.test(error.message)) return 'it takes no connection in time';
  if (/^Connection terminated|is not queryable$/.test(error.message)) return 'the connection was lost';
  if (error.message !== '') return error.message;
  // Node tries all addresses of a name, and says nothing of its own.
  return errors?.map(({ message }) => message).join('; ') || code || 'the connection was lost';
}
