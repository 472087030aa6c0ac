import type { Clock } from '../../clock.ts';
import { type Seed, seededStock } from '../../seed/stock.ts';
import { SqliteStore } from './sqlite-store.ts';

/**
 * Puts a fresh stock in the place of the one in the file, and forgets what its keys have used; the keys stay. All at
 * once, so that services that have the file open go on with it.
 *
 * @throws StorageError; then all is as before
 */
export async function reseedDatabase(file: string, seed: Seed = {}, clock: Clock = Date): Promise<void> {
  const store = await SqliteStore.open(file, seededStock(seed), clock);
  try {
    await store.replace(seededStock(seed), { forgetsUsage: true });
  } finally {
    await store.close();
  }
}
