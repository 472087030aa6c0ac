import pg from 'pg';
import { type DatabaseServer, driverOptions, serversOf } from '../../../shared/database-driver.ts';
import { parseDatabaseUrl } from '../../../shared/database-url.ts';
import { StorageError } from '../storage.ts';

/** SQLSTATEs after which the same work may be repeated at once: a deadlock, or a serialization failure. */
const AGAIN = ['40001', '40P01'];

/** Classes of errors that end the connection, so the outcome of pending work is not known. */
const LOST = /^(08|57P)/;

/**
 * Codes after which the connection can't be used, although nothing was done: the server has become a standby, or a
 * transaction was idle for too long.
 */
const USELESS = ['25006', '25P03'];

/**
 * Converts an error from PostgreSQL, or from the connection to it, to a StorageError.
 * @param mayBeDone whether a change was in flight when the connection was lost
 */
export function failure(error: unknown, mayBeDone: boolean): StorageError {
  if (error instanceof StorageError) return error;
  const code = codeOf(error);
  // An AggregateError, with one error for each address of a host, has no message of its own.
  const said = error instanceof Error && error.message !== '' ? error.message : `PostgreSQL failed: ${code}`;
  if (REFUSED.test(code))
    return new StorageError(code === DENIED ? `${said}. ${RIGHTS}` : said, 'unusable', { cause: error });
  const isUncertain = mayBeDone && !USELESS.includes(code);
  const kind = isUncertain ? 'uncertain' : STARTING.test(code) ? 'starting' : 'failed';
  return new StorageError(said, kind, { cause: error });
}

const DENIED = '42501';

/** Classes of errors that another attempt can't fix: a refused login, a missing database, table, column or right. */
const REFUSED = /^(28|3D|42)...$/;

/** The statements that let a role serve a schema that another role owns and upgrades. */
export const GRANTS = [
  'GRANT USAGE ON SCHEMA petstock_service TO staging',
  'GRANT SELECT, UPDATE ON petstock_service.service TO staging',
  'GRANT SELECT, INSERT, UPDATE ON petstock_service.keys TO staging',
  'GRANT SELECT, INSERT, UPDATE, DELETE ON petstock_service.pets, petstock_service.orders TO staging',
];

const RIGHTS = `The owner of the schema creates and upgrades its tables. To let another role serve it, the owner runs, with that role instead of staging: ${GRANTS.join('; ')}`;

/** Codes of a database that is starting, is a standby or has no free connection, or whose machine can't be reached. */
const STARTING =
  /^(57P03|53300|25006|ECONNREFUSED|ECONNRESET|ENOENT|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;

/** Returns an error like that of a database that accepts no writes. */
export function readOnly(): Error {
  return Object.assign(new Error("The database can't be written to: it is read-only or a standby"), { code: '25006' });
}

/** Reports whether certainly nothing was done, so that another attempt may succeed. */
export function isTransient(error: unknown): boolean {
  return AGAIN.includes(codeOf(error));
}

/**
 * Reports whether the connection can't be used again: it failed (not just a statement), was closed by the server, or
 * leads to a standby.
 */
export function isLost(error: unknown): boolean {
  const code = codeOf(error);
  return !/^[0-9A-Z]{5}$/.test(code) || LOST.test(code) || USELESS.includes(code) || code === 'EPIPE';
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Type parsers that return every 64-bit integer as a bigint. */
const TYPES = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 ? BigInt : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** Time limits of a connection attempt and of a reply, in milliseconds. Then the server counts as unreachable. */
export const CONNECT_MS = 5_000;
export const ANSWER_MS = 7_000;

/** Connects, and tries again without TLS if the server has none and its URL allows that. */
export type Connecting = (connect: (config: pg.ClientConfig) => Promise<pg.Client>) => Promise<pg.Client>;

/**
 * Refuses a pooler that assigns a server connection per transaction: session settings would reach other clients
 * instead. Such a pooler reports a process id that is not the backend's; then a test shows whether sessions share
 * connections. Does nothing if the server can't be reached, because the next request reports that.
 * @throws StorageError for such a pooler, or if the test fails
 */
export async function requireSessions(connecting: Connecting, most: number): Promise<void> {
  const clients: pg.Client[] = [];
  const connected = () =>
    connecting(async (config) => {
      const client = new pg.Client(config);
      client.on('error', () => {});
      clients.push(client);
      await client.connect();
      return client;
    });
  const first = await connected().catch(() => undefined);
  try {
    const backend = first && (await backendOf(first));
    // `pg` keeps the process id that the server reported on connecting, but its types omit the field.
    if (first === undefined || ('processID' in first && first.processID === backend)) return;
    for (let others = 1; others < most; others++) {
      const other = await connected();
      await other.query('BEGIN');
      if ((await backendOf(other)) === backend) throw new StorageError(TRANSACTION_POOLER, 'unusable');
    }
  } catch (error) {
    throw failure(error, false);
  } finally {
    for (const client of clients) void client.end().catch(() => {});
  }
}

const TRANSACTION_POOLER =
  'A pooler in transaction mode is in front of the database. Connect directly to the server, or through a pooler in session mode';

/**
 * Returns the servers in some URLs.
 * @throws StorageError for an invalid URL; its message repeats no value from the URL
 */
export function serversAt(urls: readonly string[]): readonly DatabaseServer[] {
  return urls.flatMap((url) => {
    const read = parseDatabaseUrl(url);
    if (!read.ok) throw new StorageError(`The URL of the database can't be used: ${read.problem}`, 'unusable');
    return serversOf(read.value);
  });
}

export function common(server: DatabaseServer, ssl: Parameters<typeof driverOptions>[1]) {
  return {
    ...driverOptions(server, ssl, CONNECT_MS),
    application_name: 'petstock service',
    query_timeout: ANSWER_MS,
    types: TYPES,
  };
}

async function backendOf(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ readonly pid: number }>('SELECT pg_catalog.pg_backend_pid() AS pid');
  return rows[0]?.pid;
}
