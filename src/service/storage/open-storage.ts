import type { Clock } from '../clock.ts';
import { generateKey } from '../keys/key.ts';
import { type Limits, PLANS, type Plan } from '../limits/admission.ts';
import { type SeedStock, seededStock } from '../seed/stock.ts';
import { IN_MEMORY } from './sqlite/database.ts';
import { openSqlite } from './sqlite/sqlite-storage.ts';
import { type KeyRecord, type Registration, type ServiceStorage, StorageError } from './storage.ts';

/** Selects the storage: PostgreSQL if `database` is given, otherwise SQLite. A new storage is created and filled. */
export interface StorageOptions {
  /** Path of a SQLite file, or ':memory:' (the default). */
  readonly file?: string | undefined;
  /**
   * The URL of a database, `postgres://…`. If several are given, they must be servers of one database; the one that
   * accepts writes is used. Any number of services on any machines may share the database.
   */
  readonly database?: string | readonly string[] | undefined;
  /**
   * The clock for windows, bans and `Date`. With a `database`, its clock counts, and this one only measures durations.
   */
  readonly clock: Clock;
  /** The stock of a new storage; default: the default stock. */
  readonly stock?: SeedStock | undefined;
  /** Whether nothing may be created or changed; the storage must then exist in the current version. */
  readonly readOnly?: boolean;
  /** How long to wait for a database that is starting or can't be reached yet. Default: not at all. */
  readonly startTimeout?: StartTimeout | undefined;
}

export interface StartTimeout {
  readonly seconds: number;
  /** Waits this many milliseconds. Rejects if the wait is cancelled. */
  sleep(milliseconds: number): Promise<unknown>;
  /**
   * Called once, when the wait begins.
   * @param reason the database's own message
   */
  waits(reason: string): void;
}

const PAUSE_MS = 500;

/**
 * Opens a storage, and creates and fills a new one. Waits up to `startTimeout` for a database.
 * @throws StorageError if it can't be used
 */
export async function openStorage(options: StorageOptions): Promise<ServiceStorage> {
  const { file = IN_MEMORY, database, clock, stock = seededStock(), startTimeout: timeout, readOnly } = options;
  if (database === undefined) return openSqlite(file, stock, clock, readOnly);
  const { openPostgres } = await import('./postgres/postgres-storage.ts');
  const began = clock.now();
  for (let tried = 1; ; tried++) {
    try {
      return await openPostgres([database].flat(), stock, clock, readOnly);
    } catch (error) {
      // If an outcome is uncertain, creating the tables again does no harm.
      const mayStart = error instanceof StorageError && ['starting', 'uncertain'].includes(error.kind);
      if (!mayStart || timeout === undefined || clock.now() - began >= timeout.seconds * 1000) throw error;
      if (tried === 1) timeout.waits(error.message);
      await timeout.sleep(PAUSE_MS);
    }
  }
}

/** The rights of a key: a plan, or the limits of an enterprise key. */
export type KeyGrant = Plan | Limits;

/**
 * Issues a key. The key is visible only now, because only its digest is stored.
 * @throws StorageError if it can't be stored
 */
export async function issueKey(
  storage: ServiceStorage,
  grant: KeyGrant,
  name?: string,
): Promise<{ readonly key: string; readonly record: KeyRecord }> {
  const key = generateKey();
  return { key, record: await adoptKey(storage, key, grant, { keepsKnown: false, name }) };
}

/**
 * Registers a key with the rights of a grant; see `KeyStorage.register`.
 * @throws StorageError if it can't be stored
 */
export function adoptKey(
  storage: ServiceStorage,
  key: string,
  grant: KeyGrant,
  registration: Registration,
): Promise<KeyRecord> {
  const isPlan = typeof grant === 'string';
  const entitlement = { plan: isPlan ? grant : 'enterprise', limits: isPlan ? PLANS[grant] : grant };
  return storage.register(key, entitlement, registration);
}
