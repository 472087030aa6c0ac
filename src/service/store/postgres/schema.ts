import type { Stock, StockItem } from '../../seed/stock.ts';
import { StorageError } from '../store.ts';
import type { Client, Connections } from './connections.ts';

/** 'pets' in ASCII, twice: the lock that one service at a time changes the schema under. */
const LOCK = '8099571061716087923';

/** The time of all who share the store: milliseconds since the Unix epoch. */
export const NOW = `(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + (SELECT ahead FROM petstock_service.service))`;

const FIRST = `
  CREATE TABLE petstock_service.service (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    version integer NOT NULL,
    ahead bigint NOT NULL DEFAULT 0,
    faults_version bigint NOT NULL DEFAULT 0
  );
  INSERT INTO petstock_service.service (version) VALUES (1);
  CREATE TABLE petstock_service.pets (
    id bigint PRIMARY KEY,
    quantity bigint NOT NULL,
    status text NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
    record text
  ) WITH (fillfactor = 80);
  CREATE INDEX pets_with_record ON petstock_service.pets (id) WHERE record IS NOT NULL;
  CREATE TABLE petstock_service.orders (position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text NOT NULL);
  CREATE TABLE petstock_service.keys (
    digest bytea PRIMARY KEY,
    plan text NOT NULL,
    minute_limit bigint NOT NULL,
    day_limit bigint NOT NULL,
    created_at bigint NOT NULL,
    revoked_at bigint,
    minute_start bigint NOT NULL DEFAULT -1,
    minute_length bigint NOT NULL DEFAULT 0,
    minute_used bigint NOT NULL DEFAULT 0,
    day_start bigint NOT NULL DEFAULT -1,
    day_used bigint NOT NULL DEFAULT 0,
    first_refusal_at bigint,
    strikes bigint NOT NULL DEFAULT 0,
    banned_until bigint
  ) WITH (fillfactor = 50);
  CREATE TABLE petstock_service.faults (
    position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    spec text NOT NULL,
    matched bigint NOT NULL DEFAULT 0
  );
  CREATE UNLOGGED TABLE petstock_service.journal (
    position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    entry jsonb NOT NULL
  );`;

/** The versions of the schema with what makes each of the one before it. A version is never changed. */
const MIGRATIONS: readonly string[] = [FIRST];

/**
 * Creates the tables and fills them if they are not there, and brings those of an earlier version to this one: one service
 * at a time, all at once.
 * @throws StorageError when they are of a later version, or the user may not make them
 */
export function prepare(connections: Connections, stock: Stock): Promise<void> {
  return connections.transact(async (client) => {
    await withoutTimeouts(client);
    await patiently(client, `SELECT pg_advisory_xact_lock(${LOCK})`);
    const from = await versionOf(client);
    if (from > MIGRATIONS.length) {
      throw new StorageError(
        `The tables of the service are of a later version of petstock (schema ${from}; this one knows ${MIGRATIONS.length})`,
      );
    }
    if (from === 0) await client.query('CREATE SCHEMA IF NOT EXISTS petstock_service');
    for (const [at, statements] of MIGRATIONS.entries()) {
      if (at < from) continue;
      await patiently(client, `${statements}; UPDATE petstock_service.service SET version = ${at + 1}`);
    }
    if (from === 0) await fillStock(client, stock);
  });
}

/** 0 where there are no tables. */
async function versionOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ readonly is_there: boolean }>(
    `SELECT to_regclass('petstock_service.service') IS NOT NULL AS is_there`,
  );
  if (rows[0]?.is_there !== true) return 0;
  const found = await client.query<{ readonly version: number }>('SELECT version FROM petstock_service.service');
  return found.rows[0]?.version ?? 0;
}

/** For the transaction under way: a whole stock takes as long as it takes. */
export async function withoutTimeouts(client: Client): Promise<void> {
  await client.query(`SET LOCAL lock_timeout = '60s'; SET LOCAL statement_timeout = 0`);
}

/** Milliseconds for one statement about a whole stock, or for another service that puts one in. */
const PATIENCE_MS = 600_000;

/** Runs a statement that may take longer than an answer to a client may. */
export async function patiently(client: Client, text: string, values: readonly unknown[] = []): Promise<void> {
  // Statements with no values go as they are, since there may be several.
  const config = { text, query_timeout: PATIENCE_MS, ...(values.length === 0 ? {} : { values: [...values] }) };
  await client.query(config);
}

/** Pets in one statement. */
const CHUNK = 5_000;

/** Puts all of a stock into tables that are empty. */
export async function fillStock(client: Client, { items, orders }: Stock): Promise<void> {
  await putItems(client, items);
  if (orders.length === 0) return;
  await patiently(
    client,
    `INSERT INTO petstock_service.orders (body)
     SELECT body FROM unnest($1::text[]) WITH ORDINALITY AS given (body, at) ORDER BY at`,
    [orders],
  );
}

export async function putItems(client: Client, items: Iterable<StockItem>): Promise<void> {
  let chunk: StockItem[] = [];
  const put = async () => {
    const columns = [
      chunk.map(({ petId }) => petId),
      chunk.map(({ quantity }) => quantity),
      chunk.map(({ status }) => status),
      chunk.map(({ record }) => record ?? null),
    ];
    await patiently(
      client,
      `INSERT INTO petstock_service.pets AS known (id, quantity, status, record)
       SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[])
       ON CONFLICT (id) DO UPDATE SET quantity = excluded.quantity, status = excluded.status,
         record = coalesce(excluded.record, known.record)`,
      columns,
    );
    chunk = [];
  };
  for (const item of items) {
    chunk.push(item);
    if (chunk.length === CHUNK) await put();
  }
  if (chunk.length > 0) await put();
}
