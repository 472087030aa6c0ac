import { statSync } from 'node:fs';
import { type Clock, MovableClock } from '../../clock.ts';
import { FaultSet } from '../../faults/fault-set.ts';
import { LocalJournal } from '../../journal.ts';
import type { Admission, LimitRules, Usage } from '../../limits/admission.ts';
import type { InventoryItem, PetStatus, Stock, StockItem } from '../../seed/stock.ts';
import { type Entitlement, type KeyRecord, type Registration, StorageError, type Store } from '../store.ts';
import { patiently, VERY_PATIENT } from './busy-retry.ts';
import { BUSY_MS, type Database, guarded, IN_MEMORY, inTransaction, openDatabase } from './database.ts';
import { GroupCommit } from './group-commit.ts';
import { Pages, ShortList, type Snapshots, snapshotsOf } from './inventory.ts';
import { Keys } from './keys.ts';
import { Pets } from './pets.ts';
import { fillStock, prepareDatabase, putItems, STARTING_MS, settle } from './schema.ts';

/**
 * Whether the file that was opened is still where it was. On most systems a file that is deleted or replaced can still be
 * written to, and everything written is lost.
 */
class FilePresence {
  readonly #file: string;
  readonly #opened: string | null;

  constructor(file: string) {
    this.#file = file;
    this.#opened = file === IN_MEMORY ? null : identityOf(file);
  }

  /** @throws StorageError when it is gone, or another one is in its place */
  require(): void {
    if (this.#opened === null || identityOf(this.#file) === this.#opened) return;
    throw new StorageError(`${this.#file} was deleted or replaced while it was in use. Start the service again`);
  }
}

/** Empty when there is no file. */
function identityOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.dev} ${found.ino}`;
}

const FORGET_USAGE = `
  UPDATE keys SET minute_start = -1, minute_length = 0, minute_used = 0, day_start = -1, day_used = 0,
    first_refusal_at = NULL, strikes = 0, banned_until = NULL`;

/**
 * The embedded store: one SQLite file in write-ahead mode, or a database in memory. Several processes may share a file. What
 * is for those who test clients (faults, journal, a clock that was moved) is of one process: a `sandbox serve` with a fault
 * is not to strike the commands that use its file.
 */
export class SqliteStore implements Store {
  readonly faults = new FaultSet();
  readonly journal = new LocalJournal();
  readonly #clock: MovableClock;
  readonly #database: Database;
  readonly #presence: FilePresence;
  readonly #commits: GroupCommit;
  readonly #keys: Keys;
  readonly #pets: Pets;
  readonly #shortList: ShortList;
  readonly #snapshots: Snapshots;

  /** Opens the file; a new one is created and filled with the stock. */
  static async open(file: string, stock: Stock, clock: Clock): Promise<SqliteStore> {
    const database = guarded(() => openDatabase(file, { timeout: STARTING_MS }));
    try {
      await prepareDatabase(database, stock);
      database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
      return new SqliteStore(file, database, clock);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  private constructor(file: string, database: Database, clock: Clock) {
    this.#clock = new MovableClock(clock);
    this.#database = database;
    this.#presence = new FilePresence(file);
    this.#keys = new Keys(database);
    this.#commits = new GroupCommit(database, this.#keys, () => this.#presence.require());
    this.#pets = new Pets(database);
    this.#shortList = new ShortList(database, new Pages(database));
    this.#snapshots = snapshotsOf(file, database);
  }

  now(): number {
    return this.#clock.now();
  }

  advance(milliseconds: number): Promise<void> {
    this.#clock.advance(milliseconds);
    return Promise.resolve();
  }

  async check(): Promise<void> {
    this.#presence.require();
    await patiently(() => this.#database.prepare('SELECT 1 FROM keys LIMIT 1').all());
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

  find(petId: bigint): Promise<StockItem | null> {
    return patiently(() => this.#pets.find(petId));
  }

  setQuantity(petId: bigint, quantity: bigint): Promise<InventoryItem | null> {
    return this.#commits.run(() => {
      this.#shortList.changed();
      return this.#pets.setQuantity(petId, quantity);
    });
  }

  setStatus(petId: bigint, status: PetStatus): Promise<InventoryItem | null> {
    return this.#commits.run(() => {
      this.#shortList.changed();
      return this.#pets.setStatus(petId, status);
    });
  }

  orders(): Promise<readonly string[]> {
    return patiently(() => this.#pets.orders());
  }

  records(): Promise<readonly string[]> {
    return patiently(() => this.#pets.records());
  }

  remove(petId: bigint): Promise<boolean> {
    return this.#commits.run(() => {
      this.#shortList.changed();
      return this.#pets.remove(petId);
    });
  }

  put(items: Iterable<StockItem>): Promise<void> {
    return this.#alone(() => putItems(this.#database, items));
  }

  replace(stock: Stock, { forgetsUsage }: { readonly forgetsUsage: boolean }): Promise<void> {
    return this.#alone(() => {
      this.#database.exec('DELETE FROM pets; DELETE FROM orders');
      fillStock(this.#database, stock);
      if (forgetsUsage) this.#database.exec(FORGET_USAGE);
    });
  }

  async close(): Promise<void> {
    await this.#commits.idle();
    if (!this.#database.isOpen) return;
    this.#snapshots.close();
    this.#database.close();
  }

  /** A transaction of its own: between two turns none is open. */
  async #alone(work: () => void): Promise<void> {
    this.#presence.require();
    await patiently(() => {
      this.#shortList.changed();
      inTransaction(this.#database, work);
    }, VERY_PATIENT);
    settle(this.#database);
  }
}
