import { existsSync } from 'node:fs';
import { isSqliteError, sqlite } from '../../../shared/sqlite-engine.ts';
import type { SeedStock, StockItem } from '../../seed/stock.ts';
import { StorageError } from '../storage.ts';
import { type Database, guarded, IN_MEMORY, inTransaction, openDatabase, retryWhileBusy } from './database.ts';

/** The application id that marks a file as a database of the service: 'pets' in ASCII. */
const APPLICATION_ID = 0x70657473n;

/**
 * Maximum wait for the write lock at the start, in milliseconds. Another process may hold the lock for seconds while it
 * seeds a million pets.
 */
export const STARTING_MS = 60_000;

const FIRST = `
  CREATE TABLE pets (
    id INTEGER PRIMARY KEY,
    quantity INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('available', 'pending', 'sold'))
  ) STRICT;
  CREATE TABLE keys (
    digest BLOB PRIMARY KEY,
    plan TEXT NOT NULL,
    minute_limit INTEGER NOT NULL,
    day_limit INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER,
    minute_start INTEGER NOT NULL DEFAULT -1,
    minute_length INTEGER NOT NULL DEFAULT 0,
    minute_used INTEGER NOT NULL DEFAULT 0,
    day_start INTEGER NOT NULL DEFAULT -1,
    day_used INTEGER NOT NULL DEFAULT 0,
    first_refusal_at INTEGER,
    strikes INTEGER NOT NULL DEFAULT 0,
    banned_until INTEGER
  ) STRICT, WITHOUT ROWID;
  PRAGMA application_id = ${APPLICATION_ID};
`;

/**
 * The statements that create each version of the schema (`user_version`) from the previous one. A version is never
 * changed.
 */
const MIGRATIONS: ReadonlyMap<bigint, string> = new Map([
  [2n, FIRST],
  [
    3n,
    `ALTER TABLE pets ADD COLUMN record TEXT;
     CREATE INDEX pets_with_record ON pets (id) WHERE record IS NOT NULL;
     CREATE TABLE orders (position INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;`,
  ],
  [4n, 'ALTER TABLE keys ADD COLUMN origin TEXT;'],
  [5n, 'ALTER TABLE keys ADD COLUMN name TEXT;'],
]);

export const CURRENT = 5n;

/**
 * Prepares a database that was opened with the timeout STARTING_MS: creates and fills a new one, and upgrades the
 * schema of an earlier version.
 * @returns whether the database was new
 */
export async function prepareDatabase(database: Database, stock: SeedStock): Promise<boolean> {
  const before = versionOf(database);
  // Switching to WAL needs exclusive access for a moment, and SQLite does not always wait for it.
  await retryWhileBusy(() => database.exec('PRAGMA journal_mode = WAL'));
  database.exec('PRAGMA synchronous = NORMAL');
  if (before === CURRENT) return false;
  const isNew = inTransaction(database, () => {
    const from = versionOf(database);
    for (const [version, statements] of MIGRATIONS) {
      if (version > from) database.exec(`${statements} PRAGMA user_version = ${version}`);
    }
    if (from === 0n) fillStock(database, stock);
    return from === 0n;
  });
  settle(database);
  return isNew;
}

/**
 * Moves a large transaction from the log to the file now instead of during a later request. Does not wait for readers.
 */
export function settle(database: Database): void {
  guarded(() => database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get());
}

/**
 * Returns the version of the schema; 0 for an empty file.
 * @throws StorageError if the file is not a database, belongs to another program, or has a version that this program
 * does not know
 */
export function versionOf(database: Database): bigint {
  // A single statement reads one snapshot, because another process may be creating the tables now.
  const { application, version, count } = guarded(() =>
    database
      .prepare(
        `SELECT application_id AS application, user_version AS version, (SELECT count(*) FROM sqlite_schema) AS count
         FROM pragma_application_id, pragma_user_version`,
      )
      .get(),
  );
  if (application === APPLICATION_ID && MIGRATIONS.has(version)) return version;
  if (count === 0n) return 0n;
  const name = database.location() ?? 'the database';
  if (application !== APPLICATION_ID) {
    throw new StorageError(`${name} is not a database of the service`, 'unusable');
  }
  throw laterVersion(name, version);
}

/** Returns the error for a newer file: an older program can't use it and must not change it. */
export function laterVersion(file: string, version: bigint): StorageError {
  return new StorageError(
    `${file} belongs to a later version of petstock (schema ${version}; this petstock supports ${CURRENT}). Use that version, or another file`,
    'unusable',
  );
}

/** Fills empty tables with a stock. */
export function fillStock(database: Database, { items, orders }: SeedStock): void {
  putItems(database, items);
  const insert = database.prepare('INSERT INTO orders (body) VALUES (?)');
  for (const body of orders) insert.run(body);
}

export function putItems(database: Database, items: Iterable<StockItem>): void {
  const put = database.prepare(
    `INSERT INTO pets (id, quantity, status, record) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE
     SET quantity = excluded.quantity, status = excluded.status, record = coalesce(excluded.record, record)`,
  );
  for (const { petId, quantity, status, record } of items) put.run(petId, quantity, status, record ?? null);
}

/**
 * Returns the number of pets in a database file, without serving the file; null if the file is missing or still empty.
 * @throws StorageError if the file is not a database of the service
 */
export function inspectDatabase(file: string): { pets: number } | null {
  if (file === IN_MEMORY || !existsSync(file)) return null;
  const database = guarded(() => openDatabase(file, { readOnly: true, timeout: STARTING_MS }));
  try {
    if (versionOf(database) === 0n) return null;
    return { pets: Number(guarded(() => database.prepare('SELECT count(*) AS pets FROM pets').get().pets)) };
  } finally {
    database.close();
  }
}

/**
 * Copies a snapshot of a database file while services use it (SQLite's online backup).
 * @param to an empty or missing file
 * @returns the number of pets in the copy
 * @throws StorageError if the file is not a database of the service, or the copy can't be written
 */
export async function backupDatabase(file: string, to: string): Promise<number> {
  if (!existsSync(file)) throw new StorageError(`there is no file ${file}`);
  const database = guarded(() => openDatabase(file, { readOnly: true, timeout: STARTING_MS }));
  try {
    if (versionOf(database) === 0n) throw new StorageError(`${file} has no stock yet`);
    await sqlite().backup(database, to);
  } catch (error) {
    throw isSqliteError(error) ? new StorageError(error.message, 'failed', { cause: error }) : error;
  } finally {
    database.close();
  }
  return petsIn(to);
}

/** Checks the copy, and moves everything into its main file. Returns its number of pets. */
function petsIn(file: string): number {
  const copy = openDatabase(file, { timeout: STARTING_MS });
  try {
    return guarded(() => {
      copy.exec('PRAGMA journal_mode = DELETE');
      const [{ integrity_check: result }] = copy.prepare('PRAGMA integrity_check').all();
      if (result !== 'ok') throw new StorageError(`the copy is damaged: ${result}`);
      return Number(copy.prepare('SELECT count(*) AS pets FROM pets').get().pets);
    });
  } finally {
    copy.close();
  }
}
