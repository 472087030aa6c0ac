import type { Clock } from '../clock.ts';
import type { Admission, LimitRules } from '../limits/admission.ts';
import { patiently } from './busy-retry.ts';
import { BUSY_MS, type Database, guarded, openDatabase } from './database.ts';
import { GroupCommit } from './group-commit.ts';
import { Keys } from './keys.ts';
import { Pages } from './pages.ts';
import { Pets } from './pets.ts';
import { prepareDatabase, STARTING_MS } from './schema.ts';
import { ShortList } from './short-list.ts';
import { type Snapshots, snapshotsOf } from './snapshots.ts';
import type { Entitlement, InventoryItem, KeyRecord, Registration, Store } from './store.ts';

/** The embedded store: one SQLite file in write-ahead mode, or a database in memory. */
export class SqliteStore implements Store {
  readonly #database: Database;
  readonly #commits: GroupCommit;
  readonly #keys: Keys;
  readonly #pets: Pets;
  readonly #shortList: ShortList;
  readonly #snapshots: Snapshots;

  /** Opens the file; a new one is created and seeded with `pets` pets. */
  static async open(file: string, pets: number, seed: number): Promise<SqliteStore> {
    const database = guarded(() => openDatabase(file, { timeout: STARTING_MS }));
    try {
      await prepareDatabase(database, pets, seed);
      database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
      return new SqliteStore(file, database);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  private constructor(file: string, database: Database) {
    this.#database = database;
    this.#keys = new Keys(database);
    this.#commits = new GroupCommit(database, this.#keys);
    this.#pets = new Pets(database);
    this.#shortList = new ShortList(database, new Pages(database));
    this.#snapshots = snapshotsOf(file, database);
  }

  register(key: string, entitlement: Entitlement, registration: Registration): Promise<void> {
    return this.#commits.run(() => this.#keys.register(key, entitlement, registration));
  }

  revoke(id: string, at: number): Promise<KeyRecord | null> {
    return this.#commits.run(() => this.#keys.revoke(id, at));
  }

  keys(): Promise<readonly KeyRecord[]> {
    return patiently(() => this.#keys.list());
  }

  admit(key: string, rules: LimitRules, clock: Clock): Promise<Admission | null> {
    return this.#commits.run(() => this.#keys.admit(key, rules, clock));
  }

  async *inventory(): AsyncGenerator<string, void> {
    // A single statement is a snapshot by itself, and the connection for writes has its pages at hand.
    const single = await patiently(() => this.#shortList.read());
    if (single === null) yield* this.#snapshots.read();
    else if (single !== '') yield single;
  }

  find(petId: bigint): Promise<InventoryItem | null> {
    return patiently(() => this.#pets.find(petId));
  }

  setQuantity(petId: bigint, quantity: bigint): Promise<InventoryItem | null> {
    return this.#commits.run(() => {
      this.#shortList.changed();
      return this.#pets.setQuantity(petId, quantity);
    });
  }

  async close(): Promise<void> {
    await this.#commits.idle();
    if (!this.#database.isOpen) return;
    this.#snapshots.close();
    this.#database.close();
  }
}
