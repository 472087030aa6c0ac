import pg from 'pg';
import { type DatabaseServer, driverOptions, serversOf } from '../../../shared/database-driver.ts';
import { parseDatabaseUrl } from '../../../shared/database-url.ts';
import { StorageError } from '../storage.ts';

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
  if (REFUSED.test(code))
    return new StorageError(code === DENIED ? `${said}. ${RIGHTS}` : said, 'unusable', { cause: error });
  const isUncertain = mayBeDone && !USELESS.includes(code);
  const kind = isUncertain ? 'uncertain' : STARTING.test(code) ? 'starting' : 'failed';
  return new StorageError(said, kind, { cause: error });
}

const DENIED = '42501';

/** Classes of a login that is refused, a database that is not there, and tables that are not ours: trying again won't help. */
const REFUSED = /^(28|3D|42)...$/;

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
  return Object.assign(new Error("The database can't be written: it is read-only or a standby"), { code: '25006' });
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

/** All integers of 64 bits are bigints. */
const TYPES = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 ? BigInt : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** Milliseconds. A server that does not answer for this long is as one that is not there. */
export const CONNECT_MS = 5_000;
export const ANSWER_MS = 7_000;

/** Milliseconds: longer than a service that stands still in a transaction holds its locks. */
const LOCK_MS = 6_000;

/** Connects, and once more without TLS if the server has none and its address does without. */
export type Connecting = (connect: (config: pg.ClientConfig) => Promise<pg.Client>) => Promise<pg.Client>;

/**
 * Refuses a pooler that gives each transaction another connection of the server: what is set for a session would come to others,
 * and not to us. A pooler gives itself away by the process id that it tells; whether sessions share connections is tried out.
 * @throws StorageError
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
    // A server that can't be reached is the affair of what asks next.
    const backend = first && (await backendOf(first));
    // As the server told it while it connected; the declarations of `pg` leave it out.
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
  'There is a pooler in transaction mode before the database. Connect straight to the server, or through a pooler in session mode';

/** Returns the servers that URLs name. @throws StorageError that repeats nothing of a URL that makes no sense */
export function serversAt(urls: readonly string[]): readonly DatabaseServer[] {
  return urls.flatMap((url) => {
    const read = parseDatabaseUrl(url);
    if (!read.ok) throw new StorageError(`The URL of the database cannot be used: ${read.problem}`, 'unusable');
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

/**
 * Returns what each connection begins with; a pooler refuses one that says this as it connects. No name of ours is looked for in a
 * schema that others may create in. What is answered has to last: if the database would not wait for its disk by default, it does
 * for us.
 */
export function beginning(idleMs: number): string {
  return `SET search_path = pg_catalog, pg_temp;
    SET lock_timeout = ${LOCK_MS}; SET idle_in_transaction_session_timeout = ${idleMs};
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`;
}
