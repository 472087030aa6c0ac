import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import type { SeedStock } from '../../seed/stock.ts';
import { PROOF_MS } from '../rows.ts';
import type { ServiceStorage } from '../storage.ts';
import { Connections } from './connections.ts';
import { postgresKeys } from './keys.ts';
import { postgresPets } from './pets.ts';
import { prepare, requirePrepared, type SchemaRow, SELECT_SCHEMA, type Seen, seenIn } from './schema.ts';

/**
 * Tests the rights and conditions that a change needs: it rewrites a pet, a key and the schema row unchanged, with the
 * role of the service. It skips a pet and a key that others hold at the moment, but waits for a locked table.
 */
const TRY = `WITH pet AS (
    UPDATE petstock_service.pets SET quantity = quantity
    WHERE id = (SELECT id FROM petstock_service.pets ORDER BY id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)
  ), key AS (
    UPDATE petstock_service.keys SET strikes = strikes
    WHERE digest = (SELECT digest FROM petstock_service.keys ORDER BY digest LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)
  ), changed AS (UPDATE petstock_service.service SET version = version RETURNING single) ${SELECT_SCHEMA}, changed`;

/** Time limit in milliseconds for pending work when the storage is closed. */
const UNFINISHED_MS = 2_000;

/**
 * Opens the storage for any number of services on any number of machines: the schema `petstock_service` of PostgreSQL
 * 15 or later. New tables are created and filled with the stock.
 * @param urls URLs such as `postgres://user:password@host:5432/database?sslmode=verify-full`; several are servers of
 * one database
 * @param clock the clock of this machine; it only bridges the time between two responses of the database, and may be
 * wrong
 * @param readOnly whether no tables may be created or changed
 */
export async function openPostgres(
  urls: readonly string[],
  stock: SeedStock,
  clock: Clock,
  readOnly = false,
): Promise<ServiceStorage> {
  const connections = new Connections(urls);
  try {
    await connections.requireSessions();
    if (readOnly) await requirePrepared(connections);
    const isNew = !readOnly && (await prepare(connections, stock));
    return storeOf(connections, clock, seenIn((await connections.read<SchemaRow>(SELECT_SCHEMA))[0]), isNew);
  } catch (error) {
    await connections.close();
    throw error;
  }
}

function storeOf(connections: Connections, clock: Clock, first: Seen, isNew: boolean): ServiceStorage {
  // Milliseconds by which the database's clock is ahead of this machine's, and by which the administration has moved
  // it.
  let [ahead, moved] = [0, 0];
  const onSeen = (seen: Seen) => {
    ahead = seen.now - clock.now();
    moved = seen.moved;
  };
  onSeen(first);
  // A response takes time, so this is never ahead of the database by more than both clocks drift apart between two
  // responses.
  const now = () => Math.floor(clock.now() + ahead);
  const keys = postgresKeys(connections, onSeen);
  const pets = postgresPets(connections, () => now() - moved);
  /** When a test change last succeeded, and how many other changes had failed by then. */
  let proof = { at: Number.NaN, failed: 0 };
  const check = async () => {
    const failed = connections.failedChanges;
    const isProven = failed === proof.failed && Math.abs(clock.now() - proof.at) < PROOF_MS;
    const rows = await (isProven ? connections.read<SchemaRow>(SELECT_SCHEMA) : connections.change<SchemaRow>(TRY));
    if (!isProven) proof = { at: clock.now(), failed };
    onSeen(seenIn(rows[0]));
  };
  let closing: Promise<void> | null = null;
  const close = async () => {
    // A database that does not respond must not block the service from stopping.
    const isIdle = Promise.all([keys.idle(), pets.idle()]);
    await Promise.race([isIdle, sleep(UNFINISHED_MS, undefined, { ref: false })]);
    await connections.close();
  };
  return {
    ...keys,
    ...pets,
    isNew,
    now,
    check,
    get pool() {
      return connections.pool;
    },
    advance: async (milliseconds) => {
      const moving = 'UPDATE petstock_service.service SET ahead = ahead + $1';
      await connections.change(moving, [BigInt(Math.round(milliseconds))]);
      await check();
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}
