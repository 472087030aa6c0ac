import pg from 'pg';
import { parseDatabaseUrl } from '../../../shared/database-url.ts';
import { StorageError } from '../store.ts';
import { failure } from './failure.ts';

/** All integers of 64 bits are bigints. */
const TYPES = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 ? BigInt : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** Milliseconds. A server that does not answer for this long is as one that is not there. */
const CONNECT_MS = 5_000;
export const ANSWER_MS = 7_000;

/** Milliseconds: longer than a service that stands still in a transaction holds its locks. */
const LOCK_MS = 6_000;

/**
 * Refuses a pooler that gives each transaction another connection of the server: what is set for a session would come to others,
 * and not to us. A pooler gives itself away by the process id that it tells; whether sessions share connections is tried out.
 * @throws StorageError
 */
export async function requireSessions(config: () => pg.ClientConfig, most: number): Promise<void> {
  const clients: pg.Client[] = [];
  const connected = async () => {
    const client = new pg.Client(config());
    client.on('error', () => {});
    clients.push(client);
    await client.connect();
    return client;
  };
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

/** Settings of every connection. */
export function common(connectionString: string) {
  return {
    connectionString,
    application_name: 'petstock service',
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: ANSWER_MS,
    keepAlive: true,
    types: TYPES,
  };
}

async function backendOf(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ readonly pid: number }>('SELECT pg_catalog.pg_backend_pid() AS pid');
  return rows[0]?.pid;
}

/**
 * `sslmode` as psql takes it: `pg` takes `require` and others for `verify-full`, and warns of that, unless this is said. Without one,
 * the certificate of a server on another machine is checked.
 */
export function secured(url: string): string {
  const parsed = parseDatabaseUrl(url);
  const isSilent = !/[?&](sslmode|ssl)=/.test(url);
  const mode = parsed.ok && isSilent && parsed.value.tls.mode === 'verify-full' ? 'sslmode=verify-full' : '';
  if (mode === '' && isSilent) return url;
  const more = [mode, /[?&]uselibpqcompat=/.test(url) ? '' : 'uselibpqcompat=true'].filter((part) => part !== '');
  return more.length === 0 ? url : `${url}${url.includes('?') ? '&' : '?'}${more.join('&')}`;
}

/**
 * Returns what each connection begins with; a pooler refuses one that says this as it connects. No name of ours is looked for in a
 * schema that others may create in. What is answered has to last: where the database would not wait for its disk by default, it does
 * for us.
 */
export function beginning(idleMs: number): string {
  return `SET search_path = pg_catalog, pg_temp;
    SET lock_timeout = ${LOCK_MS}; SET idle_in_transaction_session_timeout = ${idleMs};
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`;
}
