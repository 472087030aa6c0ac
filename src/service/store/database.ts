import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { StorageError } from './store.ts';

export type Database = DatabaseSyncInstance;
export type Statement = ReturnType<Database['prepare']>;

export const IN_MEMORY = ':memory:';

/** How long a statement waits for another process's write. */
export const BUSY_MS = 5_000;

/** Opens a database in which every integer, read or written, is a bigint. A new file is its owner's alone. */
export function openDatabase(file: string, options: { readOnly?: boolean; timeout?: number } = {}): Database {
  if (file !== IN_MEMORY && !existsSync(file)) createPrivately(file);
  return new DatabaseSync(file, { timeout: BUSY_MS, ...options, readBigInts: true });
}

/** SQLite gives the files beside the database (`-wal`, `-shm`) the same mode. */
function createPrivately(file: string): void {
  try {
    mkdirSync(dirname(resolve(file)), { recursive: true, mode: 0o700 });
    closeSync(openSync(file, 'a', 0o600));
  } catch (cause) {
    throw new StorageError(cause instanceof Error ? cause.message : `cannot create ${file}`, { cause });
  }
}

/** Runs `work`, turning what SQLite throws into StorageError. */
export function guarded<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw isSqliteError(error) ? new StorageError(error.message, { cause: error }) : error;
  }
}

/** Runs transactions that hold the write lock from their start, so that what they read stays true until they commit. */
export class Transactions {
  readonly #database: Database;
  readonly #begin: Statement;
  readonly #commit: Statement;

  constructor(database: Database) {
    this.#database = database;
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
  }

  /** All of `work` is committed, or nothing of it. */
  immediate<Result>(work: () => Result): Result {
    return guarded(() => {
      this.#begin.run();
      try {
        const result = work();
        this.#commit.run();
        return result;
      } catch (error) {
        if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
        throw error;
      }
    });
  }
}

/** True for an error of SQLite's own, for example SQLITE_BUSY. */
export function isSqliteError(error: unknown): error is Error & { readonly sqliteCodeName?: string } {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR';
}
