import { existsSync } from 'node:fs';
import { guarded, IN_MEMORY, openDatabase } from './database.ts';
import { STARTING_MS, versionOf } from './schema.ts';

/**
 * What is in a database file, without serving it. Null if there is none, or nothing in it yet.
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
