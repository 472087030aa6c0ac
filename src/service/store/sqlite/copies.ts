import { existsSync } from 'node:fs';
import { isSqliteError, sqlite } from '../../../shared/sqlite-engine.ts';
import { StorageError } from '../store.ts';
import { guarded, IN_MEMORY, openDatabase } from './database.ts';
import { STARTING_MS, versionOf } from './schema.ts';

/**
 * Returns the content of a database file, without serving it. Null if there is none, or nothing in it yet.
 * @throws StorageError when the file is something else than a database of the service
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
 * Copies a database file as it is at one moment, while services go on with it (SQLite's online backup).
 * @param to a file that is empty, or not there yet
 * @returns how many pets are in it
 * @throws StorageError when the file is not one of the service, or the copy cannot be written
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

/** Looks at the copy, and has all of it in the one file. */
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
