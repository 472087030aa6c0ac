import type { ConnectionOptions } from 'node:tls';
import type { ClientConfig } from 'pg';
import type { DatabaseAddress, DatabaseHost } from './database-url.ts';
import { FailureError } from './errors.ts';
import { readErrorReason } from './file-error.ts';
import { readTrustedFile } from './private-files.ts';

/** One of the hosts of an address. */
export type DatabaseServer = DatabaseAddress & DatabaseHost;

export function serversOf(address: DatabaseAddress): readonly DatabaseServer[] {
  return address.hosts.map((host) => ({ ...address, ...host }));
}

/**
 * Returns what `pg` is given to reach a server: the parts that we have read, and never a URL that it would read by rules of its own.
 * @param usual milliseconds that a connection may take unless the address says otherwise
 */
export function driverOptions(server: DatabaseServer, ssl: ConnectionOptions | false, usual: number) {
  const { host, port, user, password, database, connectTimeout } = server;
  return {
    host,
    port,
    ...(user !== undefined && { user }),
    ...(database !== undefined && { database }),
    // Without one pg would look for a file, and warn.
    password: password ?? '',
    // Without this a variable such as PGSSLMODE would count.
    ssl,
    keepAlive: true,
    connectionTimeoutMillis: connectTimeout === undefined ? usual : connectTimeout * 1000,
  } satisfies ClientConfig;
}

export function isSocket({ host }: DatabaseHost): boolean {
  return host.startsWith('/');
}

/**
 * Returns how a server is reached by TLS, as libpq means sslmode: `require` encrypts without asking whose certificate it is, unless an authority is
 * named. `prefer` goes on without if the server has none (`mayGoWithout`).
 */
export function tlsOptions(server: DatabaseServer): ConnectionOptions | false {
  const { mode, authority, certificate, key } = server.tls;
  if (mode === 'disable' || isSocket(server)) return false;
  const ca = authority === undefined || mode === 'prefer' ? undefined : readPem(authority);
  return {
    rejectUnauthorized: mode.startsWith('verify') || ca !== undefined,
    ...(ca !== undefined && { ca }),
    ...(certificate !== undefined && { cert: readPem(certificate) }),
    ...(key !== undefined && { key: readPem(key) }),
    ...(mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  };
}

/** Reports whether a server that was asked for TLS has none, and its address does without. */
export function mayGoWithout({ tls }: DatabaseServer, error: unknown): boolean {
  return tls.mode === 'prefer' && error instanceof Error && /does not support SSL/.test(error.message);
}

const maxPem = 16 * 1024 * 1024;

/** @throws FailureError, also if somebody else may have written it: whoever chooses the authority can be the server */
function readPem(file: string): string {
  const what = `The file ${file}, which the URL of the database names`;
  try {
    const text = readTrustedFile(file, maxPem);
    if (text !== undefined) return text;
  } catch (cause) {
    if (cause instanceof FailureError) throw cause.with({ message: `${what}: ${cause.message}` });
    throw new FailureError(`${what}, can't be read: ${readErrorReason(cause)}`, { cause });
  }
  throw new FailureError(`${what}, can't be read: there is no such file`);
}
