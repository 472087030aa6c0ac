import pg from 'pg';
import { beginning, readOnly } from './database-errors.ts';

/**
 * A service that stands still while it replaces the stock holds its locks for this long; who waits for one of them waits a little
 * longer, and so gets it. No request holds a lock between two statements.
 */
const IDLE_MS = 4_000;

/** A reader of the whole inventory may stand still for as long as its client may read nothing, and a little more. */
const READER_IDLE_MS = 90_000;

/** Connections of each pool, at most. */
export const WORKERS = 6;
export const READERS = 10;

export interface Pools {
  /** For short work. */
  readonly workers: pg.Pool;
  /** For those who read all of the inventory, however slowly. */
  readonly readers: pg.Pool;
}

/** @param isOneOfSeveral whether a server that takes no writes is passed over */
export function openPools(config: pg.PoolConfig, isOneOfSeveral: boolean): Pools {
  const poolOf = (max: number, idleMs: number) => {
    const onConnect = async (client: pg.ClientBase) => {
      await client.query(beginning(idleMs));
      if (isOneOfSeveral) await requireWrites(client);
    };
    // A connection that ends is replaced when one is needed. Without these listeners one that idles, or that is held between
    // two statements, would end the process.
    const pool = new pg.Pool({ ...config, max, onConnect });
    return pool.on('error', () => {}).on('connect', (client) => client.on('error', () => {}));
  };
  return { workers: poolOf(WORKERS, IDLE_MS), readers: poolOf(READERS, READER_IDLE_MS) };
}

/** Of pools that are no longer used: what idles is ended, and the rest with its work. */
export function endPools({ workers, readers }: Pools): Promise<unknown> {
  return Promise.all([workers.end(), readers.end()]);
}

async function requireWrites(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ readonly read_only: string }>(
    `SELECT current_setting('transaction_read_only') AS read_only`,
  );
  if (rows[0]?.read_only === 'on') throw readOnly();
}
