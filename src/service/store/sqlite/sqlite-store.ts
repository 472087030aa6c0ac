import { statSync } from 'node:fs';
import type { Clock } from '../../clock.ts';
import type { Admission, LimitRules, Usage } from '../../limits/admission.ts';
import type { InventoryItem, PetStatus, Stock, StockItem } from '../../seed/stock.ts';
import { forgetUsageSql, LATELY_MS } from '../rows.ts';
import { type Entitlement, type KeyRecord, type Registration, StorageError, type Store } from '../store.ts';
import {
  BUSY_MS,
  type Database,
  guarded,
  IN_MEMORY,
  inTransaction,
  openDatabase,
  type Prepare,
  patiently,
  prepareOnce,
  VERY_PATIENT,
} from './database.ts';
import { GroupCommit } from './group-commit.ts';
import { ShortList, Snapshots } from './inventory.ts';
import { Keys } from './keys.ts';
import {
  CURRENT,
  fillStock,
  laterVersion,
  prepareDatabase,
  putItems,
  STARTING_MS,
  settle,
  versionOf,
} from './schema.ts';

/**
 * Returns a check that throws StorageError once the file that was opened is not where it was. On most systems a file that is deleted
 * or replaced can still be written to, and everything written is lost.
 */
function presenceOf(file: string): () => void {
  const opened = file === IN_MEMORY ? null : identityOf(file);
  return () => {
    if (opened === null || identityOf(file) === opened) return;
    throw new StorageError(`${file} was deleted or replaced while it was in use. Start the service again`);
  };
}

/** Empty when there is no file. */
function identityOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.dev} ${found.ino}`;
}

const REWRITE = `UPDATE keys SET plan = plan WHERE digest = (SELECT min(digest) FROM keys);
  UPDATE pets SET quantity = quantity WHERE id = (SELECT min(id) FROM pets);
  PRAGMA user_version = ${CURRENT}`;

/**
 * The embedded store: one SQLite file in write-ahead mode, or a database in memory. Several processes may share a file. A clock
 * that was moved is of one process.
 */
export class SqliteStore implements Store {
  readonly #clock: Clock;
  /** How far the time has been moved: milliseconds. */
  #ahead = 0;
  readonly #database: Database;
  readonly #requirePresent: () => void;
  readonly #sql: Prepare;
  /** When a change was committed; undefined if one has failed since. */
  #wroteAt: number | undefined;
  readonly #commits: GroupCommit;
  readonly #keys: Keys;
  readonly #shortList: ShortList;
  readonly #snapshots: Snapshots;

  /**
   * Opens the file; a new one is created and filled with the stock.
   * @param onlyLooks whether nothing is to be made or changed: then the file has to be there, and of this version
   */
  static async open(file: string, stock: Stock, clock: Clock, onlyLooks = false): Promise<SqliteStore> {
    const database = guarded(() => openDatabase(file, { timeout: STARTING_MS, readOnly: onlyLooks }));
    try {
      if (!onlyLooks) await prepareDatabase(database, stock);
      else if (versionOf(database) !== CURRENT) throw new StorageError(`${file} has no stock of this version yet`);
      database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
      return new SqliteStore(file, database, clock);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  private constructor(file: string, database: Database, clock: Clock) {
    this.#clock = clock;
    this.#database = database;
    this.#requirePresent = presenceOf(file);
    this.#sql = prepareOnce(database);
    this.#keys = new Keys(this.#sql);
    this.#commits = new GroupCommit(
      database,
      this.#keys,
      () => this.#requireOwn(),
      (error) => {
        this.#wroteAt = error === undefined ? this.#clock.now() : undefined;
      },
    );
    this.#shortList = new ShortList(this.#sql);
    this.#snapshots = new Snapshots(file, this.#sql);
  }

  now(): number {
    return Math.floor(this.#clock.now()) + this.#ahead;
  }

  advance(milliseconds: number): Promise<void> {
    this.#ahead += milliseconds;
    return Promise.resolve();
  }

  async check(): Promise<void> {
    if (this.#wroteAt !== undefined && Math.abs(this.#clock.now() - this.#wroteAt) < LATELY_MS) {
      return patiently(() => this.#requireOwn());
    }
    // As many pages as a request writes, though nothing in them changes: on a full disk a single one may still have its place.
    await this.#commits.run(() => this.#database.exec(REWRITE));
  }

  register(key: string, entitlement: Entitlement, registration: Registration): Promise<void> {
    return this.#commits.run(() => this.#keys.register(key, entitlement, registration, this.now()));
  }

  revoke(id: string): Promise<KeyRecord | null> {
    return this.#commits.run(() => this.#keys.revoke(id, this.now()));
  }

  keys(): Promise<readonly KeyRecord[]> {
    return patiently(() => this.#keys.list());
  }

  admit(key: string, rules: LimitRules): Promise<Admission | null> {
    return this.#commits.run(() => this.#keys.admit(key, rules, this.now()));
  }

  changeUsage(id: string, change: (usage: Usage, now: number) => Usage): Promise<KeyRecord | null> {
    return this.#commits.run(() => this.#keys.changeUsage(id, (usage) => change(usage, this.now())));
  }

  async *inventory(): AsyncGenerator<string, void> {
    // A single statement is a snapshot by itself, and the connection for writes has its pages at hand.
    const single = await patiently(() => this.#shortList.read());
    if (single === null) yield* this.#snapshots.read();
    else if (single !== '') yield single;
  }

  async find(petId: bigint): Promise<StockItem | null> {
    const find = 'SELECT id AS petId, quantity, status, record FROM pets WHERE id = ?';
    const row = await patiently(() => this.#sql(find).get(petId));
    return row === undefined ? null : { ...row, record: row.record ?? undefined };
  }

  setQuantity(petId: bigint, quantity: bigint): Promise<InventoryItem | null> {
    return this.#change('UPDATE pets SET quantity = ? WHERE id = ? RETURNING id AS petId, quantity, status', [
      quantity,
      petId,
    ]);
  }

  setStatus(petId: bigint, status: PetStatus): Promise<InventoryItem | null> {
    return this.#change('UPDATE pets SET status = ? WHERE id = ? RETURNING id AS petId, quantity, status', [
      status,
      petId,
    ]);
  }

  orders(): Promise<readonly string[]> {
    return this.#texts('SELECT body AS text FROM orders ORDER BY position');
  }

  records(): Promise<readonly string[]> {
    return this.#texts('SELECT record AS text FROM pets WHERE record IS NOT NULL ORDER BY id');
  }

  async remove(petId: bigint): Promise<boolean> {
    return (await this.#change('DELETE FROM pets WHERE id = ? RETURNING id', [petId])) !== null;
  }

  put(items: Iterable<StockItem>): Promise<void> {
    return this.#alone(() => putItems(this.#database, items));
  }

  replace(stock: Stock, { forgetsUsage }: { readonly forgetsUsage: boolean }): Promise<void> {
    return this.#alone(() => {
      this.#database.exec('DELETE FROM pets; DELETE FROM orders');
      fillStock(this.#database, stock);
      if (forgetsUsage) this.#database.exec(forgetUsageSql('keys'));
    });
  }

  async close(): Promise<void> {
    await this.#commits.idle();
    if (!this.#database.isOpen) return;
    this.#snapshots.close();
    this.#database.close();
  }

  /** @throws StorageError if the file was replaced, or changed by a later version of petstock */
  #requireOwn(): void {
    this.#requirePresent();
    const { user_version: version } = this.#sql('PRAGMA user_version').get();
    if (version !== CURRENT) throw laterVersion(this.#database.location() ?? 'the database', version);
  }

  /** Changes one pet, and returns its row; null if there is none. */
  #change<Row>(statement: string, values: readonly (bigint | string)[]): Promise<Row | null> {
    return this.#commits.run(() => {
      this.#shortList.changed();
      return this.#sql(statement).get(...values) ?? null;
    });
  }

  async #texts(statement: string): Promise<readonly string[]> {
    const rows: readonly { readonly text: string }[] = await patiently(() => this.#sql(statement).all());
    return rows.map(({ text }) => text);
  }

  /** A transaction of its own: between two turns none is open. */
  async #alone(work: () => void): Promise<void> {
    await patiently(() => {
      this.#shortList.changed();
      inTransaction(this.#database, () => {
        this.#requireOwn();
        work();
      });
    }, VERY_PATIENT);
    settle(this.#database);
  }
}
