import type { ConnectionOptions } from 'node:tls';
import type { ClientConfig } from 'pg';
import type { DatabaseAddress, DatabaseHost } from '../shared/database-url.ts';
import { FailureError, readErrorReason } from '../shared/errors.ts';
import { readTrustedFile } from '../shared/private-files.ts';

/** An address with one of its hosts. */
export type DatabaseServer = DatabaseAddress & DatabaseHost;

export function serversOf(address: DatabaseAddress): readonly DatabaseServer[] {
  return address.hosts.map((host) => ({ ...address, ...host }));
}

/**
 * Returns the options for `pg` to connect to a server: the parsed parts, never a URL, because `pg` would parse it by
 * its own rules.
 * @param usual time limit for connecting in milliseconds, unless the address sets one
 */
export function driverOptions(server: DatabaseServer, ssl: ConnectionOptions | false, usual: number) {
  const { host, port, user, password, database, connectTimeout } = server;
  return {
    host,
    port,
    ...(user !== undefined && { user }),
    ...(database !== undefined && { database }),
    // Without a password `pg` would look for a file, and warn.
    password: password ?? '',
    // Without `ssl`, variables such as PGSSLMODE would apply.
    ssl,
    keepAlive: true,
    connectionTimeoutMillis: connectTimeout === undefined ? usual : connectTimeout * 1000,
  } satisfies ClientConfig;
}

/**
 * Returns the TLS options of a server, with libpq's meaning of sslmode: `require` encrypts without verifying the
 * certificate, unless an authority is named. `prefer` continues without TLS if the server has none (`mayGoWithout`).
 * False if TLS is disabled, or for a Unix socket.
 * @throws FailureError if a file of the address can't be used
 */
export function tlsOptions(server: DatabaseServer): ConnectionOptions | false {
  const { mode, authority, certificate, key } = server.tls;
  if (mode === 'disable' || server.host.startsWith('/')) return false;
  const ca = authority === undefined || mode === 'prefer' ? undefined : readPem(authority);
  return {
    rejectUnauthorized: mode.startsWith('verify') || ca !== undefined,
    ...(ca !== undefined && { ca }),
    ...(certificate !== undefined && { cert: readPem(certificate) }),
    ...(key !== undefined && { key: readPem(key) }),
    ...(mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  };
}

/** Reports whether to connect without TLS: the server does not support it, and the mode is `prefer`. */
export function mayGoWithout({ tls }: DatabaseServer, error: unknown): boolean {
  return tls.mode === 'prefer' && error instanceof Error && /does not support SSL/.test(error.message);
}

const maxPem = 16 * 1024 * 1024;

/**
 * Reads a PEM file that the database URL names.
 * @throws FailureError if it can't be read, or if another user could have changed it, because whoever chooses the
 * authority can impersonate the server
 */
function readPem(file: string): string {
  const what = `The file ${file} in the database URL`;
  try {
    const text = readTrustedFile(file, maxPem);
    if (text !== undefined) return text;
  } catch (cause) {
    if (cause instanceof FailureError) throw cause.with({ message: `${cause.message}. The database URL names it` });
    throw new FailureError(`${what} can't be read: ${readErrorReason(cause)}`, { cause });
  }
  throw new FailureError(`${what} can't be read: there is no such file`);
}
