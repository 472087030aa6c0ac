import type { Clock } from '../clock.ts';
import type { Admission, LimitRules } from '../limits/admission.ts';
import { type Database, guarded, openDatabase, Transactions } from './database.ts';
import { Keys } from './keys.ts';
import { Pets } from './pets.ts';
import { prepareDatabase, STARTING_MS } from './schema.ts';
import { type Snapshots, snapshotsOf } from './snapshots.ts';
import type { Entitlement, InventoryItem, Store } from './store.ts';

/** The embedded store: one SQLite file in write-ahead mode, or a database in memory. */
export class SqliteStore implements Store {
  readonly #database: Database;
  readonly #pets: Pets;
  readonly #keys: Keys;
  readonly #snapshots: Snapshots;

  /** Opens the file; a new one is created and seeded with `pets` pets. */
  static async open(file: string, pets: number, seed: number): Promise<SqliteStore> {
    const database = guarded(() => openDatabase(file, { timeout: STARTING_MS }));
    try {
      await prepareDatabase(database, pets, seed);
      return new SqliteStore(file, database);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  private constructor(file: string, database: Database) {
    this.#database = database;
    this.#pets = new Pets(database);
    this.#keys = new Keys(database, new Transactions(database));
    this.#snapshots = snapshotsOf(file, database);
  }

  async register(key: string, entitlement: Entitlement | undefined, otherwise: Entitlement): Promise<void> {
    this.#keys.register(key, entitlement, otherwise);
  }

  async admit(key: string, rules: LimitRules, clock: Clock): Promise<Admission | null> {
    return this.#keys.admit(key, rules, clock);
  }

  inventory(): AsyncGenerator<string, void> {
    return this.#snapshots.read();
  }

  async find(petId: bigint): Promise<InventoryItem | null> {
    return this.#pets.find(petId);
  }

  async setQuantity(petId: bigint, quantity: bigint): Promise<InventoryItem | null> {
    return this.#pets.setQuantity(petId, quantity);
  }

  async close(): Promise<void> {
    this.#snapshots.close();
    this.#database.close();
  }
}
