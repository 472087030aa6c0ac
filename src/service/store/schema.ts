import { setTimeout as sleep } from 'node:timers/promises';
import { openingStock } from '../seed/stock.ts';
import { type Database, guarded, inSnapshot, inTransaction, isSqliteError } from './database.ts';
import { StorageError } from './store.ts';

/** Marks a file as ours: 'pets' in ASCII. */
const APPLICATION_ID = 0x70657473n;
const VERSION = 2n;

/** Seeding a million pets holds the write lock for seconds; another process that starts meanwhile waits this long. */
export const STARTING_MS = 60_000;

const TABLES = `
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
  PRAGMA user_version = ${VERSION};
`;

/** Readies a database that was opened with the timeout STARTING_MS: creates and seeds it if it is new, once. */
export async function prepareDatabase(database: Database, pets: number, seed: number): Promise<void> {
  const wasPrepared = isPrepared(database);
  await useWriteAheadLog(database);
  database.exec('PRAGMA synchronous = NORMAL');
  if (!wasPrepared) {
    inTransaction(database, () => {
      if (isPrepared(database)) return;
      database.exec(TABLES);
      fillStock(database, pets, seed);
    });
    settle(database);
  }
}

/** Moves a large transaction from the log to the file now, rather than in the middle of a request. Waits for no reader. */
export function settle(database: Database): void {
  guarded(() => database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get());
}

/**
 * True when the tables are there, false in an empty file.
 * @throws StorageError when the file is no database, another program's, or of a version that this one does not know
 */
export function isPrepared(database: Database): boolean {
  // Of one moment: another process may be creating the tables just now.
  const { application, version, count } = inSnapshot(database, () => ({
    application: database.prepare('PRAGMA application_id').get().application_id,
    version: database.prepare('PRAGMA user_version').get().user_version,
    count: database.prepare('SELECT count(*) AS count FROM sqlite_schema').get().count,
  }));
  if (application === APPLICATION_ID && version === VERSION) return true;
  if (count === 0n) return false;
  const name = database.location() ?? 'the database';
  throw new StorageError(`${name} is not a database of this version of the service`, { isUnusable: true });
}

export function fillStock(database: Database, pets: number, seed: number): void {
  const insert = database.prepare('INSERT INTO pets (id, quantity, status) VALUES (?, ?, ?)');
  for (const { petId, quantity, status } of openingStock(pets, seed)) insert.run(petId, quantity, status);
}

/** Turning it on needs the file for oneself for a moment, and SQLite does not always wait for that. */
async function useWriteAheadLog(database: Database): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      database.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (!isSqliteError(error)) throw error;
      if (error.sqliteCodeName !== 'SQLITE_BUSY' || attempt === 200) {
        throw new StorageError(error.message, { cause: error });
      }
      await sleep(10);
    }
  }
}
