import type { SeedStock, StockItem } from '../../seed/stock.ts';
import { StorageError } from '../storage.ts';
import type { Client, Connections } from './connections.ts';

/** The lock under which one service at a time changes the schema; the number is arbitrary. */
const LOCK = '8099571061716087923';

/** SQL expression for the time of all services that share the storage, in milliseconds since the Unix epoch. */
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

/**
 * The statements that create each version of the schema from the previous one. A version is never changed. A released
 * version only adds, so that the previous program still works; unused objects are dropped one version later, and that
 * version raises `oldest`.
 */
const MIGRATIONS: readonly string[] = [
  FIRST,
  `ALTER TABLE petstock_service.service ADD COLUMN oldest integer NOT NULL DEFAULT 1;
   ALTER TABLE petstock_service.keys ADD COLUMN origin text;`,
  // Only schema 1 used these two tables. The journal is unlogged, so on some versions of PostgreSQL a standby that
  // takes over can't read its sequence. Then pg_dump, which reads every sequence, fails.
  `DROP TABLE petstock_service.journal, petstock_service.faults;
   UPDATE petstock_service.service SET oldest = 2;
   ALTER TABLE petstock_service.keys ADD COLUMN name text;`,
];

/** Values that each admission and each check reads. */
export interface Seen {
  /** The time of the storage, in milliseconds since the Unix epoch. */
  readonly now: number;
  /** Milliseconds by which the administration has moved the time ahead of the database's clock. */
  readonly moved: number;
}

export interface SchemaRow {
  readonly now: bigint;
  readonly ahead: bigint;
  readonly version: number;
  readonly oldest: number;
}

/**
 * The statement that reads the time and the schema version. It is part of each admission, so that a service notices at
 * once that it can no longer use the tables.
 */
export const SELECT_SCHEMA = `SELECT ${NOW} AS now, ahead, version, oldest FROM petstock_service.service`;

/**
 * Returns the time in a row.
 * @throws StorageError if the row is missing, or this program can't work with the version of the tables
 */
export function seenIn(row: SchemaRow | undefined): Seen {
  if (row === undefined) throw new StorageError('The table petstock_service.service is empty');
  requireKnown(row);
  return { now: Number(row.now), moved: Number(row.ahead) };
}

/** @throws StorageError if `oldest`, the lowest schema whose program can use the tables, is above this program's */
function requireKnown({ version, oldest }: Pick<SchemaRow, 'version' | 'oldest'>): void {
  if (oldest <= MIGRATIONS.length) return;
  throw new StorageError(
    `The tables of the service belong to a later version of petstock (schema ${version}; this petstock supports ${MIGRATIONS.length}). Use that version`,
    'unusable',
  );
}

/**
 * Creates and fills missing tables, and upgrades those of an earlier version, one service at a time and atomically.
 * @returns whether the tables were missing
 * @throws StorageError if the tables are of a later version that this program can't work with, or if the user may not
 * create tables
 */
export async function prepare(connections: Connections, stock: SeedStock): Promise<boolean> {
  if ((await versionIn(connections)) >= MIGRATIONS.length) return false;
  return connections.transact(async (client) => {
    await withoutTimeouts(client);
    await queryWithLongTimeout(client, `SELECT pg_advisory_xact_lock(${LOCK})`);
    const from = await versionIn({ read: async (text) => (await client.query(text)).rows });
    if (from === 0) await client.query('CREATE SCHEMA IF NOT EXISTS petstock_service');
    for (const [at, statements] of MIGRATIONS.entries()) {
      if (at < from) continue;
      await queryWithLongTimeout(client, `${statements}; UPDATE petstock_service.service SET version = ${at + 1}`);
    }
    if (from === 0) await fillStock(client, stock);
    return from === 0;
  });
}

/** @throws StorageError unless the tables exist and need no upgrade */
export async function requirePrepared(connections: Connections): Promise<void> {
  const version = await versionIn(connections);
  if (version >= MIGRATIONS.length) return;
  const what =
    version === 0 ? 'The database has no tables of the service' : 'The tables of the service have an earlier version';
  throw new StorageError(
    `${what}. To create or upgrade them, run petstock sandbox serve with the same --database`,
    'unusable',
  );
}

/** Returns the version of the tables; 0 if there are none. */
async function versionIn(database: { read(text: string): Promise<readonly object[]> }): Promise<number> {
  // `to_regclass` is not used: within a transaction it still reports a table as missing after another service has
  // created it.
  const [table] = await database.read(
    `SELECT 1 FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE n.nspname = 'petstock_service' AND c.relname = 'service'`,
  );
  if (table === undefined) return 0;
  const rows = await database.read('SELECT to_json(s) AS service FROM petstock_service.service AS s');
  const [row] = rows as readonly { readonly service: Partial<SchemaRow> }[];
  const { version = 0, oldest = version } = row?.service ?? {};
  requireKnown({ version, oldest });
  return version;
}

/**
 * Lets the current transaction wait a minute for each lock, and removes the server's limit for a statement, because a
 * whole stock may take long.
 */
export async function withoutTimeouts(client: Client): Promise<void> {
  await client.query(`SET LOCAL lock_timeout = '60s'; SET LOCAL statement_timeout = 0`);
}

/** Time limit in milliseconds for one statement that handles a whole stock, or waits while another service does. */
const LONG_TIMEOUT_MS = 600_000;

/** Runs a statement that may take longer than a client would wait, up to 10 minutes. */
export async function queryWithLongTimeout(
  client: Client,
  text: string,
  values: readonly unknown[] = [],
): Promise<void> {
  // Without values, the text may contain several statements.
  const config = { text, query_timeout: LONG_TIMEOUT_MS, ...(values.length === 0 ? {} : { values: [...values] }) };
  await client.query(config);
}

/** Number of pets per statement. */
const CHUNK = 5_000;

/** Fills empty tables with a stock. */
export async function fillStock(client: Client, { items, orders }: SeedStock): Promise<void> {
  await putItems(client, items);
  if (orders.length === 0) return;
  await queryWithLongTimeout(
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
    await queryWithLongTimeout(
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
