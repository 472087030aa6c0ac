import { describe, expect } from 'vitest';
import { generateKey, inspectDatabase, StorageError } from '../../src/service/index.ts';
import { digestOf } from '../../src/service/keys/key.ts';
import { sqlite } from '../../src/shared/sqlite-engine.ts';
import { runSql, temporaryDatabase } from '../support/postgres.ts';
import { NOON, outcome, rate, start, temporaryFile, test } from './support.ts';

/** The service's own engine: with two copies of SQLite in one process, one would drop the locks of the other. */
const { DatabaseSync } = sqlite();

const migrated =
  '[{"petId":5,"quantity":-2,"status":"sold"},{"petId":9007199254740993,"quantity":41,"status":"pending"}]';

/** The schema as 0.1.0 made it. */
const VERSION_2 = `
  CREATE TABLE pets (
    id INTEGER PRIMARY KEY,
    quantity INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('available', 'pending', 'sold'))
  ) STRICT;
  CREATE TABLE keys (
    digest BLOB PRIMARY KEY, plan TEXT NOT NULL, minute_limit INTEGER NOT NULL, day_limit INTEGER NOT NULL,
    created_at INTEGER NOT NULL, revoked_at INTEGER, minute_start INTEGER NOT NULL DEFAULT -1,
    minute_length INTEGER NOT NULL DEFAULT 0, minute_used INTEGER NOT NULL DEFAULT 0, day_start INTEGER NOT NULL DEFAULT -1,
    day_used INTEGER NOT NULL DEFAULT 0, first_refusal_at INTEGER, strikes INTEGER NOT NULL DEFAULT 0, banned_until INTEGER
  ) STRICT, WITHOUT ROWID;
  PRAGMA application_id = ${0x70657473};
  PRAGMA user_version = 2;
  PRAGMA journal_mode = WAL;
  INSERT INTO pets VALUES (9007199254740993, 41, 'pending'), (5, -2, 'sold');`;

function oldFile(key: string): string {
  const file = temporaryFile();
  const database = new DatabaseSync(file);
  database.exec(VERSION_2);
  database
    .prepare(
      `INSERT INTO keys (digest, plan, minute_limit, day_limit, created_at, minute_start, minute_length, minute_used, day_start, day_used)
       VALUES (?, 'enterprise', 10, 100, ?, ?, 60000, 4, ?, 50)`,
    )
    .run(Buffer.from(digestOf(key), 'hex'), NOON, NOON, NOON - 43_200_000);
  database.close();
  return file;
}

function change(file: string, statement: string): void {
  const database = new DatabaseSync(file);
  database.exec(statement);
  database.close();
}

test('migrates a file of 0.1.0 with its stock, keys and usage', async () => {
  const key = generateKey();
  const file = oldFile(key);
  expect(inspectDatabase(file)).toEqual({ pets: 2 });
  const service = await start({ file, key });
  const answer = await service.get('/inventory');
  expect(answer.text).toBe(migrated);
  expect(rate(answer)).toMatch(/^10\/5\//);
  expect((await service.get('/store/orders')).text).toBe('[]');
  expect(outcome(await service.patch('/inventory/5', '{"quantity":3}'))).toBe('200');
  await service.close();
  expect((await (await start({ file, key })).get('/inventory')).text).toContain('{"petId":5,"quantity":3,');
});

test('migrates a file that four services open at the same time', async () => {
  const key = generateKey();
  const file = oldFile(key);
  const services = await Promise.all(Array.from({ length: 4 }, () => start({ file, key })));
  for (const service of services) expect(outcome(await service.get('/inventory'))).toBe('200');
});

test('leaves a file usable if a migration fails halfway', async () => {
  const key = generateKey();
  const file = oldFile(key);
  change(file, 'CREATE TABLE orders (something)');
  await expect(start({ file, key })).rejects.toThrow(StorageError);
  change(file, 'DROP TABLE orders');
  expect(outcome(await (await start({ file, key })).get('/inventory'))).toBe('200');
});

test('refuses a file of a later version, and names its schema', async () => {
  const file = oldFile(generateKey());
  change(file, 'PRAGMA user_version = 99');
  const message = expect.stringMatching(/later version of petstock \(schema 99/);
  await expect(start({ file })).rejects.toMatchObject({ name: 'StorageError', kind: 'unusable', message });
});

/** The tables of schema 1 with a key that has used some of its limits, shortened from the output of `pg_dump`. */
const dumpOf1 = (key: string) => [
  'CREATE SCHEMA petstock_service',
  `CREATE TABLE petstock_service.service (single boolean PRIMARY KEY DEFAULT true CHECK (single), version integer NOT NULL,
    ahead bigint NOT NULL DEFAULT 0, faults_version bigint NOT NULL DEFAULT 0)`,
  'INSERT INTO petstock_service.service (version) VALUES (1)',
  `CREATE TABLE petstock_service.pets (id bigint PRIMARY KEY, quantity bigint NOT NULL,
    status text NOT NULL CHECK (status IN ('available', 'pending', 'sold')), record text) WITH (fillfactor = 80)`,
  'CREATE INDEX pets_with_record ON petstock_service.pets (id) WHERE record IS NOT NULL',
  'CREATE TABLE petstock_service.orders (position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text NOT NULL)',
  `CREATE TABLE petstock_service.keys (digest bytea PRIMARY KEY, plan text NOT NULL, minute_limit bigint NOT NULL,
    day_limit bigint NOT NULL, created_at bigint NOT NULL, revoked_at bigint, minute_start bigint NOT NULL DEFAULT -1,
    minute_length bigint NOT NULL DEFAULT 0, minute_used bigint NOT NULL DEFAULT 0, day_start bigint NOT NULL DEFAULT -1,
    day_used bigint NOT NULL DEFAULT 0, first_refusal_at bigint, strikes bigint NOT NULL DEFAULT 0, banned_until bigint)`,
  `CREATE TABLE petstock_service.faults (position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, spec text NOT NULL,
    matched bigint NOT NULL DEFAULT 0)`,
  'CREATE UNLOGGED TABLE petstock_service.journal (position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, entry jsonb NOT NULL)',
  "INSERT INTO petstock_service.pets VALUES (9007199254740993, 41, 'pending', NULL), (5, -2, 'sold', NULL)",
  `INSERT INTO petstock_service.keys (digest, plan, minute_limit, day_limit, created_at, minute_start, minute_length, minute_used, day_start, day_used)
    SELECT '\\x${digestOf(key)}', 'enterprise', 10, 100, 0, -1, 0, 0, floor(extract(epoch FROM now()) / 86400)::bigint * 86400000, 95`,
];
const dumpOf2 = (key: string) => [
  ...dumpOf1(key),
  'ALTER TABLE petstock_service.service ADD COLUMN oldest integer NOT NULL DEFAULT 1',
  'ALTER TABLE petstock_service.keys ADD COLUMN origin text',
  'UPDATE petstock_service.service SET version = 2',
];

describe('tables of PostgreSQL', { timeout: 60_000 }, () => {
  test('migrates PostgreSQL tables from the previous version, whose statements still work', async () => {
    const [url, key] = [await temporaryDatabase(), generateKey()];
    await runSql(url, ...dumpOf2(key));
    const service = await start({ database: url, key, clock: Date as never });
    const answer = await service.get('/inventory');
    expect(answer.text).toBe(migrated);
    expect(rate(answer)).toMatch(/^100\/4\//);
    // The older version reads all columns of a key by name, and adds keys without the new column.
    const [row] = await runSql(url, 'SELECT version, oldest FROM petstock_service.service');
    expect(row).toEqual({ version: 3, oldest: 2 });
    await runSql(
      url,
      "INSERT INTO petstock_service.keys (digest, plan, minute_limit, day_limit, origin, created_at) VALUES ('\\x00', 'pro', 1, 1, NULL, 0)",
      'UPDATE petstock_service.service SET version = version',
    );
    expect(outcome(await service.get('/inventory'))).toBe('200');
  });

  test('serves from PostgreSQL tables to which a later version has added columns', async () => {
    const url = await temporaryDatabase();
    const service = await start({ database: url, clock: Date as never, pets: 1_500 });
    const asked = async () => [
      outcome(await service.patch('/inventory/1', '{"quantity":5}')),
      outcome(await service.get('/pets/1')),
      outcome(await service.get('/inventory')),
    ];
    for (let count = 0; count < 8; count++) expect(await asked()).toEqual(['200', '200', '200']);
    for (const table of ['pets', 'keys', 'service'])
      await runSql(url, `ALTER TABLE petstock_service.${table} ADD COLUMN later text`);
    for (let count = 0; count < 8; count++) expect(await asked()).toEqual(['200', '200', '200']);
  });

  test('migrates PostgreSQL tables from schema 1', async () => {
    const [url, key] = [await temporaryDatabase(), generateKey()];
    await runSql(url, ...dumpOf1(key));
    expect((await (await start({ database: url, key, clock: Date as never })).get('/inventory')).text).toBe(migrated);
  });

  test('creates only logged PostgreSQL tables', async () => {
    const [url, key] = [await temporaryDatabase(), generateKey()];
    await runSql(url, ...dumpOf2(key));
    await (await start({ database: url, key, clock: Date as never })).close();
    const relations = await runSql(
      url,
      "SELECT relname, relpersistence FROM pg_class WHERE relnamespace = 'petstock_service'::regnamespace",
    );
    // On some versions of PostgreSQL, a promoted standby and pg_dump can't read the sequence of an unlogged table.
    expect(relations.filter(({ relpersistence }) => relpersistence !== 'p')).toEqual([]);
    expect(relations.map(({ relname }) => relname)).toContain('orders_position_seq');
  });

  test('stops old replicas from serving once a later version has migrated the tables', async () => {
    const url = await temporaryDatabase();
    const service = await start({ database: url, clock: Date as never, adminPort: 0, testControls: false });
    await runSql(url, 'UPDATE petstock_service.service SET version = 4');
    expect(outcome(await service.get('/inventory'))).toBe('200');
    await runSql(url, 'UPDATE petstock_service.service SET version = 5, oldest = 4');
    const patched = await service.patch('/inventory/1', '{"quantity":4711}');
    expect([outcome(patched), patched.headers['retry-after']]).toEqual(['503 storage_unavailable', undefined]);
    expect((await fetch(`${service.adminUrl}/readyz`)).status).toBe(503);
    const stock = await runSql(url, 'SELECT quantity::int FROM petstock_service.pets WHERE id = 1');
    expect(stock).toEqual([{ quantity: 12 }]);
    await expect(start({ database: url })).rejects.toThrow(/later version .*schema 5; this petstock supports 3/);
  });
});

test('does not write to a file that a later version migrates while it is open', async ({ file }) => {
  const service = await start({ file, adminPort: 0, testControls: false });
  expect(outcome(await service.get('/inventory'))).toBe('200');
  change(file, 'PRAGMA user_version = 6');
  expect(outcome(await service.patch('/inventory/1', '{"quantity":4711}'))).toBe('503 storage_unavailable');
  expect((await fetch(`${service.adminUrl}/readyz`)).status).toBe(503);
  change(file, 'PRAGMA user_version = 5');
  expect((await service.get('/inventory')).text).toContain('{"petId":1,"quantity":12,');
});
