import { closeSync, existsSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { requirePrivateFile } from '../../../shared/private-files.ts';
import { isSqliteError, retryBusy, sqlite, sqliteCodeOf, sqliteCodes } from '../../../shared/sqlite-engine.ts';
import { StorageError } from '../storage.ts';

export type Database = DatabaseSyncInstance;
export type Statement = ReturnType<Database['prepare']>;

export const IN_MEMORY = ':memory:';

/**
 * How long SQLite itself waits for another process's lock, in milliseconds. That blocks the event loop, so it is short;
 * longer waits happen between attempts.
 */
export const BUSY_MS = 5;

/**
 * Opens a database; every integer that is read from it is a bigint. Creates a missing file, private to its owner,
 * unless `readOnly` is set.
 */
export function openDatabase(file: string, options: { readOnly?: boolean; timeout?: number } = {}): Database {
  if (file !== IN_MEMORY && !options.readOnly && !existsSync(file)) createPrivately(file);
  return new (sqlite().DatabaseSync)(file, { timeout: BUSY_MS, ...options, readBigInts: true });
}

export type Prepare = (text: string) => Statement;

export function prepareOnce(database: Database): Prepare {
  const known = new Map<string, Statement>();
  return (text) => {
    const statement = known.get(text) ?? database.prepare(text);
    known.set(text, statement);
    return statement;
  };
}

/**
 * Creates an empty file that is private to this user. SQLite creates the files beside the database (`-wal`, `-shm`)
 * with the same mode.
 */
function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, 'ax', 0o600));
  } catch (cause) {
    // Another process has created the file first.
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') requirePrivateFile(file);
    else
      throw new StorageError(cause instanceof Error ? cause.message : `${file} can't be created`, 'failed', { cause });
  }
}

/** Runs `work`, and converts SQLite's errors to StorageError. */
export function guarded<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!isSqliteError(error)) throw error;
    const code = sqliteCodeOf(error);
    const isDamaged = code === sqliteCodes.corrupt || code === sqliteCodes.notADatabase;
    throw new StorageError(error.message, isDamaged ? 'damaged' : 'failed', { cause: error });
  }
}

/** Runs a transaction that holds the write lock from its start and is committed as a whole or not at all. */
export function inTransaction<Result>(database: Database, work: () => Result): Result {
  return guarded(() => {
    database.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      database.exec('COMMIT');
      return result;
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  });
}

/** Reports whether an error means that another process holds a lock, so that another attempt may succeed. */
export function isBusy(error: unknown): boolean {
  return error instanceof StorageError && sqliteCodeOf(error.cause) === sqliteCodes.busy;
}

/** Milliseconds between attempts, about five seconds in total. The first ones are those of SQLite itself. */
const PAUSES: readonly number[] = [1, 2, 5, 10, 15, 20, ...Array<number>(200).fill(25)];

/** Waits of a minute in total, for a whole stock: another process may be importing a million pets. */
export const PAUSES_FOR_IMPORT: readonly number[] = [...PAUSES, ...Array<number>(2_200).fill(25)];

/**
 * Runs `work` once no other process holds the lock that it needs. SQLite's own wait would block the event loop; this
 * wait lets other requests continue.
 * @throws StorageError if the lock is not released in time, or for any other error of SQLite
 */
export function retryWhileBusy<Result>(work: () => Result, pauses = PAUSES): Promise<Result> {
  return retryBusy(() => guarded(work), pauses, sleep, isBusy);
}
