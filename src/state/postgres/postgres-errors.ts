import { FailureError, PetstockError, UnavailableError } from '../../shared/errors.ts';

/** SQLSTATE codes: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const lostStates = /^(08|57P0[123]|25006|25P03)/;
const busyStates = /^(57014|55P03|53300|40001|40P01|58000)/;

/** @returns the SQLSTATE of an error from PostgreSQL itself; undefined for any other, such as a network error */
function stateOf(error: unknown): string | undefined {
  const { code, severity } = error as { readonly code?: unknown; readonly severity?: unknown };
  return typeof code === 'string' && typeof severity === 'string' ? code : undefined;
}

/**
 * Reports whether the connection was lost, so that the outcome of the statements is unknown. A server that has become
 * read-only counts as lost, because another one has taken over.
 */
export function isLost(error: unknown): boolean {
  if (error instanceof PetstockError || !(error instanceof Error)) return false;
  const state = stateOf(error);
  return state === undefined ? true : lostStates.test(state);
}

/** Reports whether a reply or a connection timed out. A second attempt would probably time out, too. */
export function isSilence(error: unknown): boolean {
  return /read timeout|timeout expired/.test((error as Error).message);
}

/**
 * Reports whether the server or the role has reached its connection limit. Commands are short, so a connection will be
 * free soon.
 */
export function isFull(error: unknown): boolean {
  return stateOf(error) === '53300';
}

/** Reports whether a table or the schema is missing. */
export function isMissing(error: unknown): boolean {
  return /^(42P01|3F000)$/.test(stateOf(error) ?? '');
}

/**
 * Converts an error of PostgreSQL or the network to one of petstock; returns an error of petstock unchanged.
 * @param shown the address without its password
 */
export function toPetstockError(error: unknown, shown: string): unknown {
  if (error instanceof PetstockError || !(error instanceof Error)) return error;
  const state = stateOf(error) ?? '';
  const unavailable = (problem: string, hint: string) =>
    new UnavailableError(`The shared state at ${shown} ${problem}`, { hint, cause: error });
  // `state info` could not reach it either; `config list` shows where the address comes from.
  if (isLost(error)) return unavailable(`can't be reached: ${reasonOf(error)}`, 'petstock config list');
  if (busyStates.test(state)) return unavailable(`is too busy: ${error.message}`, 'petstock state info');
  const isRefused = state === '42501';
  const hint = `petstock ${isRefused || /^(28|3D)/.test(state) ? 'config set state-url' : 'state check'}`;
  const { statement } = error as { readonly statement?: string };
  const asked = isRefused && statement ? ` (for "${statement.replace(/\s+/g, ' ').slice(0, 60)}")` : '';
  return new FailureError(`The shared state at ${shown} can't be used: ${error.message}${asked}`, {
    hint,
    cause: error,
  });
}

/** Returns why a server can't be reached. */
export function reasonOf(error: Error): string {
  const { code, errors } = error as NodeJS.ErrnoException & { readonly errors?: readonly Error[] };
  if (/read timeout/.test(error.message)) return 'it does not respond';
  if (/timeout expired/.test(error.message)) return 'it did not accept a connection in time';
  if (/^Connection terminated|is not queryable$/.test(error.message)) return 'the connection was lost';
  if (error.message !== '') return error.message;
  // Node tries all addresses of a name; its combined error has no message of its own.
  return errors?.map(({ message }) => message).join('; ') || code || 'the connection was lost';
}
