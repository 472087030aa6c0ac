import pg from 'pg';
import { readOnly } from './database-errors.ts';

/**
 * How long, in milliseconds, a service that hangs while it replaces the stock can hold its locks. Requests wait
 * slightly longer for a lock, so they get it. No request holds a lock between two statements.
 */
const IDLE_MS = 4_000;

/**
 * How long, in milliseconds, a reader of the whole inventory may pause: longer than its client may stop reading (60 s
 * by default).
 */
const READER_IDLE_MS = 90_000;

/** Maximum wait for a lock in milliseconds, longer than a service that hangs in a transaction holds its locks. */
const LOCK_MS = 6_000;

/** Maximum number of connections in each pool. */
export const WORKERS = 6;
export const READERS = 10;

export interface Pools {
  /** Connections for short statements. */
  readonly workers: pg.Pool;
  /** Connections for readers of the whole inventory. */
  readonly readers: pg.Pool;
}

/**
 * Opens the pools of connections to a server.
 * @param isOneOfSeveral whether there are other servers, so that one that accepts no writes is rejected
 */
export function openPools(config: pg.PoolConfig, isOneOfSeveral: boolean): Pools {
  const poolOf = (max: number, idleMs: number) => {
    const onConnect = async (client: pg.ClientBase) => {
      await client.query(sessionSetupSql(idleMs));
      if (isOneOfSeveral) await requireWrites(client);
    };
    // A closed connection is replaced when one is needed. Without these listeners, the loss of a connection that is
    // idle or between two statements would end the process.
    const pool = new pg.Pool({ ...config, max, onConnect });
    return pool.on('error', () => {}).on('connect', (client) => client.on('error', () => {}));
  };
  return { workers: poolOf(WORKERS, IDLE_MS), readers: poolOf(READERS, READER_IDLE_MS) };
}

/** Closes pools that are no longer used: idle connections now, the others after their work. */
export function endPools({ workers, readers }: Pools): Promise<unknown> {
  return Promise.all([workers.end(), readers.end()]);
}

/**
 * Returns the statements that each connection starts with. A pooler refuses these settings as startup parameters. The
 * search path leaves out schemas in which others may create objects. A confirmed change must be durable, so the
 * database waits for its disk even if it would not by default.
 */
function sessionSetupSql(idleMs: number): string {
  return `SET search_path = pg_catalog, pg_temp;
    SET lock_timeout = ${LOCK_MS}; SET idle_in_transaction_session_timeout = ${idleMs};
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`;
}

async function requireWrites(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ readonly read_only: string }>(
    `SELECT current_setting('transaction_read_only') AS read_only`,
  );
  if (rows[0]?.read_only === 'on') throw readOnly();
}
