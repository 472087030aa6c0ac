import { closeSync, existsSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { sqlite } from '../../../shared/sqlite-engine.ts';
import { StorageError } from '../store.ts';

export type Database = DatabaseSyncInstance;
export type Statement = ReturnType<Database['prepare']>;

export const IN_MEMORY = ':memory:';

/**
 * How long SQLite itself waits for another process's lock, in milliseconds. The event loop stands still meanwhile, so it is
 * short; who has to wait for longer does so between attempts.
 */
export const BUSY_MS = 5;

/** Opens a database in which every integer, read or written, is a bigint. A new file is its owner's alone. */
export function openDatabase(file: string, options: { readOnly?: boolean; timeout?: number } = {}): Database {
  if (file !== IN_MEMORY && !existsSync(file)) createPrivately(file);
  return new (sqlite().DatabaseSync)(file, { timeout: BUSY_MS, ...options, readBigInts: true });
}

/** Returns the statement of a text, which is prepared once. */
export type Prepare = (text: string) => Statement;

export function prepareOnce(database: Database): Prepare {
  const known = new Map<string, Statement>();
  return (text) => {
    const statement = known.get(text) ?? database.prepare(text);
    known.set(text, statement);
    return statement;
  };
}

/** SQLite gives the files beside the database (`-wal`, `-shm`) the same mode. */
function createPrivately(file: string): void {
  try {
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
    throw isSqliteError(error)
      ? new StorageError(error.message, { cause: error, isUnusable: isDamaged(error), isDamaged: isDamaged(error) })
      : error;
  }
}

/** Runs a transaction that holds the write lock from its start: all of `work` is committed, or nothing of it. */
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

/** Runs reads that all see the database as it is at the first of them. */
export function inSnapshot<Result>(database: Database, read: () => Result): Result {
  return guarded(() => {
    if (database.isTransaction) return read();
    database.exec('BEGIN');
    try {
      return read();
    } finally {
      database.exec('COMMIT');
    }
  });
}

/** Primary result codes: https://sqlite.org/rescode.html */
const codes = { busy: 5, corrupt: 11, notADatabase: 26 };

/** @photostructure/sqlite leaves the code out of what it throws while it reads rows: these are SQLite's own words for it. */
const codesByMessage: ReadonlyMap<string, number> = new Map([
  ['database is locked', codes.busy],
  ['database disk image is malformed', codes.corrupt],
  ['file is not a database', codes.notADatabase],
]);

/** True for an error of SQLite's own, for example SQLITE_BUSY. */
export function isSqliteError(error: unknown): error is Error & { readonly errcode?: number } {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR';
}

/** True when another process holds a lock, and it may help to try again. */
export function isBusy(error: unknown): boolean {
  return error instanceof StorageError && codeOf(error.cause) === codes.busy;
}

/** As `isBusy`, for what SQLite itself throws; not where a snapshot has become too old, which trying again does not help. */
export function isLocked(error: unknown): boolean {
  return codeOf(error) === codes.busy && (!isSqliteError(error) || (error.errcode ?? codes.busy) === codes.busy);
}

function isDamaged(error: Error): boolean {
  const code = codeOf(error);
  return code === codes.corrupt || code === codes.notADatabase;
}

function codeOf(error: unknown): number | undefined {
  if (!isSqliteError(error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : codesByMessage.get(error.message);
}

/** Milliseconds between attempts, some five seconds in all: the rhythm of SQLite's own waiting. */
const PAUSES: readonly number[] = [1, 2, 5, 10, 15, 20, ...Array<number>(200).fill(25)];

/** The same for a minute: for a whole stock, while another process may be putting in a million pets. */
export const VERY_PATIENT: readonly number[] = [...PAUSES, ...Array<number>(2_200).fill(25)];

/**
 * Does `work` once no other process holds the lock that it needs. SQLite would wait for that itself, but hold up the
 * event loop meanwhile: here other requests go on.
 *
 * @throws StorageError when the lock is not released in time, or for anything else that SQLite says
 */
export async function patiently<Result>(work: () => Result, pauses = PAUSES): Promise<Result> {
  for (const pause of pauses) {
    try {
      return guarded(work);
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
    await sleep(pause);
  }
  return guarded(work);
}
