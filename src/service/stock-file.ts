import { closeSync, existsSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { isBusy, retryBusy, sqlite } from '../shared/sqlite-engine.ts';
import { type InventoryItem, itemFieldNames, itemFields, type Order, type Stock } from './item.ts';
import { DAY_MS, NEVER, type Usage } from './limits/admission.ts';

type Database = DatabaseSyncInstance;

export const IN_MEMORY = ':memory:';

/** How long a statement waits while another process writes, in milliseconds. */
const BUSY_MS = 5_000;

/** The application id that marks a file as a database of the service: 'pets' in ASCII. */
const APPLICATION_ID = 0x70657473n;

/** The version of the schema (`user_version`). */
const VERSION = 6n;

/** The first version that can be upgraded. */
const OLDEST = 2n;

const SCHEMA = `
  CREATE TABLE pets (
    id INTEGER PRIMARY KEY,
    quantity INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('available', 'pending', 'sold'))
  ) STRICT;
  CREATE TABLE orders (id INTEGER PRIMARY KEY, pet_id INTEGER NOT NULL, quantity INTEGER NOT NULL) STRICT;
  CREATE TABLE usage (
    key BLOB PRIMARY KEY,
    version INTEGER NOT NULL,
    minute_start INTEGER NOT NULL,
    minute_length INTEGER NOT NULL,
    minute_used INTEGER NOT NULL,
    day_start INTEGER NOT NULL,
    day_used INTEGER NOT NULL,
    first_refusal_at INTEGER,
    strikes INTEGER NOT NULL,
    banned_until INTEGER
  ) STRICT;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${VERSION};
`;

/** Keeps the stock of an earlier version, which had several keys and stored orders as text. */
const UPGRADE = `
  ALTER TABLE pets RENAME TO former_pets;
  DROP TABLE IF EXISTS orders;
  DROP TABLE keys;
  ${SCHEMA}
  INSERT INTO pets SELECT id, quantity, status FROM former_pets;
  DROP TABLE former_pets;
`;

/** Thrown for a file that is not a database of this version of the service. */
export class StorageError extends Error {
  override readonly name = 'StorageError';
}

/** The statement's list of columns, each named like its field. */
const ITEM = itemFieldNames.map((name) => `${itemFields[name].column} AS ${name}`).join(', ');
const COLUMNS = itemFieldNames.map((name) => itemFields[name].column);
const USAGE =
  'version = ?, minute_start = ?, minute_length = ?, minute_used = ?, day_start = ?, day_used = ?, first_refusal_at = ?, strikes = ?, banned_until = ?';

/** The usage of a key, with the version that a change of it must name. */
export interface VersionedUsage {
  readonly version: bigint;
  readonly usage: Usage;
}

/**
 * The stock, the orders and the usage of keys, in one SQLite file or in memory. Several processes may open a file. Each
 * method is one statement or transaction, and survives a killed process once it has returned.
 *
 * Every method throws SQLite's error if the file can't be read or written; then nothing was changed.
 */
export class StockFile {
  readonly #sql;

  /** @param isNew whether the database was created on opening */
  constructor(
    private readonly database: Database,
    readonly isNew: boolean,
  ) {
    const sql = (text: string) => database.prepare(text);
    this.#sql = {
      list: sql(`SELECT ${ITEM} FROM pets ORDER BY id`),
      count: sql('SELECT count(*) AS count FROM pets'),
      find: sql(`SELECT ${ITEM} FROM pets WHERE id = ?`),
      setQuantity: sql(`UPDATE pets SET quantity = ? WHERE id = ? RETURNING ${ITEM}`),
      orders: sql('SELECT id AS orderId, pet_id AS petId, quantity FROM orders ORDER BY id'),
      usage: sql('SELECT * FROM usage WHERE key = ?'),
      firstUsage: sql('INSERT OR IGNORE INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'),
      setUsage: sql(`UPDATE usage SET ${USAGE} WHERE key = ? AND version = ?`),
    };
  }

  /** Yields all items in the order of their ids. Read to the end at once, they are a snapshot. */
  items(): Iterable<InventoryItem> {
    return this.#sql.list.iterate() as Iterable<InventoryItem>;
  }

  /** Returns the number of pets. */
  count(): number {
    return Number(this.#sql.count.get().count);
  }

  find(petId: bigint): InventoryItem | null {
    return this.#sql.find.get(petId) ?? null;
  }

  /** Sets the quantity, and returns the resulting item; null if there is no such pet. */
  setQuantity(petId: bigint, quantity: bigint): InventoryItem | null {
    return this.#sql.setQuantity.get(quantity, petId) ?? null;
  }

  orders(): readonly Order[] {
    return this.#sql.orders.all();
  }

  /** Replaces all items and orders. */
  replace(stock: Stock): void {
    transact(this.database, () => {
      this.database.exec('DELETE FROM pets; DELETE FROM orders');
      fill(this.database, stock);
    });
  }

  /** Returns the usage of a key; undefined if it was never used. @param key the digest of the key */
  usage(key: Buffer): VersionedUsage | undefined {
    const row = this.#sql.usage.get(key);
    return row && { version: row.version, usage: usageOf(row) };
  }

  /**
   * Stores the next usage of a key.
   * @param before the version that the next usage was made from; undefined if there was none
   * @returns the new version; undefined if another process has stored one since
   */
  setUsage(key: Buffer, before: bigint | undefined, { minute, day, conduct }: Usage): bigint | undefined {
    const { firstRefusalAt, strikes, bannedUntil } = conduct;
    const version = (before ?? 0n) + 1n;
    const windows = [minute.start, minute.length, minute.used, day.start, day.used];
    const values = [version, ...windows, firstRefusalAt, strikes, bannedUntil];
    const { changes } =
      before === undefined ? this.#sql.firstUsage.run(key, ...values) : this.#sql.setUsage.run(...values, key, before);
    return Number(changes) === 0 ? undefined : version;
  }

  /** Clears the usage of all keys. */
  clearUsage(): void {
    this.database.exec('DELETE FROM usage');
  }

  close(): void {
    if (this.database.isOpen) this.database.close();
  }
}

function fill(database: Database, { items, orders }: Stock): void {
  const values = COLUMNS.map(() => '?').join(', ');
  const putItem = database.prepare(`INSERT INTO pets (${COLUMNS.join(', ')}) VALUES (${values})`);
  for (const item of items) putItem.run(...itemFieldNames.map((name) => item[name]));
  const putOrder = database.prepare('INSERT INTO orders (id, pet_id, quantity) VALUES (?, ?, ?)');
  for (const { orderId, petId, quantity } of orders) putOrder.run(orderId, petId, quantity);
}

function transact<Result>(database: Database, work: () => Result): Result {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

interface UsageRow {
  readonly minute_start: bigint;
  readonly minute_length: bigint;
  readonly minute_used: bigint;
  readonly day_start: bigint;
  readonly day_used: bigint;
  readonly first_refusal_at: bigint | null;
  readonly strikes: bigint;
  readonly banned_until: bigint | null;
}

function usageOf(row: UsageRow): Usage {
  return {
    minute: { start: Number(row.minute_start), length: Number(row.minute_length), used: row.minute_used },
    day: row.day_start < 0n ? NEVER : { start: Number(row.day_start), length: DAY_MS, used: row.day_used },
    conduct: {
      firstRefusalAt: numberOf(row.first_refusal_at),
      strikes: Number(row.strikes),
      bannedUntil: numberOf(row.banned_until),
    },
  };
}

function numberOf(value: bigint | null): number | null {
  return value === null ? null : Number(value);
}

/**
 * Opens a database. A new one is created and filled with `stock`; an earlier version is upgraded.
 * @param file a path, or `:memory:`
 * @throws StorageError for a file of another program or of a later version; the error of SQLite or of the system
 */
export async function openStockFile(file: string, stock: Stock): Promise<StockFile> {
  if (file !== IN_MEMORY && !existsSync(file)) createPrivately(file);
  const database = new (sqlite().DatabaseSync)(file, { timeout: BUSY_MS, readBigInts: true });
  try {
    // SQLite does not wait for the lock with which the first process switches a new file to WAL.
    await retryBusy(() => database.exec('PRAGMA journal_mode = WAL'), Array<number>(500).fill(10), sleep, isBusy);
    database.exec('PRAGMA synchronous = NORMAL');
    const isNew = versionOf(database) < VERSION && transact(database, () => prepareTables(database, stock));
    return new StockFile(database, isNew);
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Creates an empty file for this user only. SQLite creates the files beside it with the same mode. */
function createPrivately(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
}

/** Creates or upgrades the tables, unless another process has done so. Returns whether they were created. */
function prepareTables(database: Database, stock: Stock): boolean {
  const version = versionOf(database);
  if (version === VERSION) return false;
  database.exec(version === 0n ? SCHEMA : UPGRADE);
  if (version === 0n) fill(database, stock);
  return version === 0n;
}

/** Returns the version of the schema; 0 for an empty file. @throws StorageError if it is not one of the service's */
function versionOf(database: Database): bigint {
  const { application, version, count } = database
    .prepare(
      `SELECT application_id AS application, user_version AS version, (SELECT count(*) FROM sqlite_schema) AS count
       FROM pragma_application_id, pragma_user_version`,
    )
    .get();
  if (count === 0n) return 0n;
  if (application !== APPLICATION_ID || version < OLDEST) {
    throw new StorageError('it is not a database of the service');
  }
  if (version > VERSION) {
    throw new StorageError(
      `it belongs to a later version of petstock (schema ${version}; this petstock supports ${VERSION}). Use that version, or another file`,
    );
  }
  return version;
}
