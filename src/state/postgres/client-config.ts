import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import type { ClientConfig } from 'pg';
import type { DatabaseAddress, DatabaseHost } from '../../shared/database-url.ts';
import { FailureError } from '../../shared/errors.ts';

/** One of the hosts of an address. */
export type DatabaseServer = DatabaseAddress & DatabaseHost;

/** In milliseconds. The server gives a statement up before we give the answer up, so that mostly it is known what became of it. */
export const timeouts = { connect: 5000, lock: 5000, statement: 8000, answer: 10_000, idleInTransaction: 10_000 };

export function configOf(server: DatabaseServer, ssl: ConnectionOptions | boolean): ClientConfig {
  const { host, port, user, password, database, connectTimeout } = server;
  return {
    host,
    port,
    ...(user !== undefined && { user }),
    ...(database !== undefined && { database }),
    // Without one pg would look for a file, and warn.
    password: password ?? '',
    ssl,
    application_name: 'petstock',
    keepAlive: true,
    connectionTimeoutMillis: connectTimeout === undefined ? timeouts.connect : connectTimeout * 1000,
  };
}

/**
 * What each connection begins with; a pooler refuses one that says this as it connects. What is read under a lock has to be what was committed
 * before it, and times have all of their digits: a role may have settings of its own, which these go before.
 */
export const beginning = [
  `SET statement_timeout = ${timeouts.statement}`,
  `SET lock_timeout = ${timeouts.lock}`,
  `SET idle_in_transaction_session_timeout = ${timeouts.idleInTransaction}`,
  "SET default_transaction_isolation = 'read committed'",
  'SET extra_float_digits = 1',
  'LISTEN petstock',
].join(';');

export function isSocket({ host }: DatabaseHost): boolean {
  return host.startsWith('/');
}

/** As libpq means sslmode: `require` encrypts without asking whose certificate it is, unless an authority is named. */
export function tlsOptions(server: DatabaseServer): ConnectionOptions | false {
  const { mode, authority, certificate, key } = server.tls;
  if (mode === 'disable' || isSocket(server)) return false;
  const ca = authority === undefined ? undefined : readPem(authority);
  return {
    rejectUnauthorized: mode.startsWith('verify') || ca !== undefined,
    ...(ca !== undefined && { ca }),
    ...(certificate !== undefined && { cert: readPem(certificate) }),
    ...(key !== undefined && { key: readPem(key) }),
    ...(mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  };
}

function readPem(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new FailureError(`The file ${file}, which the state URL names, can't be read: ${(cause as Error).message}`, {
      cause,
    });
  }
}
