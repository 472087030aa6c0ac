import type { Clock } from './clock.ts';
import { type Stock, seededStock } from './seed/stock.ts';
import { IN_MEMORY } from './store/sqlite/database.ts';
import { SqliteStore } from './store/sqlite/sqlite-store.ts';
import type { Store } from './store/store.ts';

/** Which store: that of a PostgreSQL where `database` is given, else that of a file. */
export interface StoreOptions {
  /** Path of a SQLite file, or ':memory:', which is the default. */
  readonly file?: string | undefined;
  /** `postgres://…`; several are servers of one database: the one that takes writes is used. */
  readonly database?: string | readonly string[] | undefined;
  readonly clock: Clock;
  /** What a new store is filled with; without it the default stock. */
  readonly stock?: Stock | undefined;
  /** Whether a PostgreSQL keeps the requests of all services. */
  readonly keepsJournal?: boolean;
}

/** Opens a store; a new one is made and filled. @throws StorageError */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { file = IN_MEMORY, database, clock, stock = seededStock(), keepsJournal = false } = options;
  if (database === undefined) return SqliteStore.open(file, stock, clock);
  const { PostgresStore } = await import('./store/postgres/postgres-store.ts');
  return PostgresStore.open({ urls: [database].flat(), stock, clock, keepsJournal });
}
