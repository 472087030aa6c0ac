import { DEFAULTS } from '../options.ts';
import { guarded, inTransaction, openDatabase } from './database.ts';
import { fillStock, prepareDatabase, STARTING_MS, settle } from './schema.ts';

const FORGET_USAGE = `
  UPDATE keys SET minute_start = -1, minute_length = 0, minute_used = 0, day_start = -1, day_used = 0,
    first_refusal_at = NULL, strikes = 0, banned_until = NULL`;

/**
 * Puts a fresh stock in the place of the one in the file, and forgets what its keys have used; the keys stay. All at
 * once, so that services that have the file open go on with it.
 *
 * @throws StorageError; then all is as before
 */
export async function reseedDatabase(file: string, pets: number = DEFAULTS.pets, seed: number = DEFAULTS.seed) {
  const database = guarded(() => openDatabase(file, { timeout: STARTING_MS }));
  try {
    await prepareDatabase(database, pets, seed);
    inTransaction(database, () => {
      database.exec('DELETE FROM pets');
      fillStock(database, pets, seed);
      database.exec(FORGET_USAGE);
    });
    settle(database);
  } finally {
    database.close();
  }
}
