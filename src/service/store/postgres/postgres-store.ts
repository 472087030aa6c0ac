import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import type { Admission, LimitRules, Usage } from '../../limits/admission.ts';
import type { InventoryItem, PetStatus, Stock, StockItem } from '../../seed/stock.ts';
import type { Entitlement, KeyRecord, Registration, Store } from '../store.ts';
import { type Client, Connections } from './connections.ts';
import { readOnly } from './failure.ts';
import { PostgresFaults } from './faults.ts';
import { PostgresInventory } from './inventory.ts';
import { PostgresJournal } from './journal.ts';
import { LOOK, type Look, PostgresKeys, type Seen, seenIn } from './keys.ts';
import { PostgresPets } from './pets.ts';
import { fillStock, patiently, prepare, putItems, withoutTimeouts } from './schema.ts';
import { DatabaseTime } from './time.ts';

export interface PostgresOptions {
  /** `postgres://user:password@host:5432/database?sslmode=verify-full`; several are servers of one database, as `Connections` uses them. */
  readonly urls: readonly string[];
  /** What new tables are filled with. */
  readonly stock: Stock;
  /** Of this machine. It only bridges the time between two answers of the database, and may be wrong. */
  readonly clock: Clock;
  /** Whether requests are written to the common journal. */
  readonly keepsJournal: boolean;
}

const CHECK = `SELECT l.*, current_setting('transaction_read_only') AS read_only FROM (${LOOK}) AS l`;

/** How long what is under way may take when the store is closed. */
const UNFINISHED_MS = 2_000;

const FORGET_USAGE = `
  UPDATE petstock_service.keys SET minute_start = -1, minute_length = 0, minute_used = 0, day_start = -1, day_used = 0,
    first_refusal_at = NULL, strikes = 0, banned_until = NULL`;

/** A store for any number of services on any number of machines: the schema `petstock_service` of a PostgreSQL 15 or later. */
export class PostgresStore implements Store {
  readonly faults: PostgresFaults;
  readonly journal: PostgresJournal;
  readonly #connections: Connections;
  readonly #time: DatabaseTime;
  readonly #keys: PostgresKeys;
  readonly #pets: PostgresPets;
  readonly #inventory: PostgresInventory;
  #closing: Promise<void> | null = null;

  /** Opens the database; new tables are made and filled with the stock. */
  static async open({ urls, stock, clock, keepsJournal }: PostgresOptions): Promise<PostgresStore> {
    const connections = new Connections(urls);
    try {
      await prepare(connections, stock);
      const store = new PostgresStore(connections, clock, keepsJournal);
      await store.check();
      return store;
    } catch (error) {
      await connections.close();
      throw error;
    }
  }

  private constructor(connections: Connections, clock: Clock, keepsJournal: boolean) {
    this.#connections = connections;
    this.#time = new DatabaseTime(clock);
    this.faults = new PostgresFaults(connections);
    this.journal = new PostgresJournal(connections, keepsJournal);
    this.#keys = new PostgresKeys(connections, (seen) => this.#seen(seen));
    this.#pets = new PostgresPets(connections, () => this.#time.unmoved());
    this.#inventory = new PostgresInventory(connections);
  }

  now(): number {
    return this.#time.now();
  }

  async advance(milliseconds: number): Promise<void> {
    await this.#connections.change('UPDATE petstock_service.service SET ahead = ahead + $1', [
      BigInt(Math.round(milliseconds)),
    ]);
    await this.check();
  }

  async check(): Promise<void> {
    const look = async (client: Client) => {
      const { rows } = await client.query<Look & { readonly read_only: string }>(CHECK);
      if (rows[0]?.read_only === 'on') throw readOnly();
      return rows[0];
    };
    this.#seen(seenIn(await this.#connections.session(look, { onlyReads: true })));
  }

  register(key: string, entitlement: Entitlement, registration: Registration): Promise<void> {
    return this.#keys.register(key, entitlement, registration);
  }

  revoke(id: string): Promise<KeyRecord | null> {
    return this.#keys.revoke(id);
  }

  keys(): Promise<readonly KeyRecord[]> {
    return this.#keys.list();
  }

  admit(key: string, rules: LimitRules): Promise<Admission | null> {
    return this.#keys.admit(key, rules);
  }

  changeUsage(id: string, change: (usage: Usage, now: number) => Usage): Promise<KeyRecord | null> {
    return this.#keys.changeUsage(id, change);
  }

  inventory(): AsyncGenerator<string, void> {
    return this.#inventory.read();
  }

  find(petId: bigint): Promise<StockItem | null> {
    return this.#pets.find(petId);
  }

  setQuantity(petId: bigint, quantity: bigint): Promise<InventoryItem | null> {
    return this.#pets.setQuantity(petId, quantity);
  }

  setStatus(petId: bigint, status: PetStatus): Promise<InventoryItem | null> {
    return this.#pets.setStatus(petId, status);
  }

  orders(): Promise<readonly string[]> {
    return this.#pets.orders();
  }

  records(): Promise<readonly string[]> {
    return this.#pets.records();
  }

  put(items: Iterable<StockItem>): Promise<void> {
    return this.#connections.transact(async (client) => {
      await withoutTimeouts(client);
      await patiently(client, 'LOCK TABLE petstock_service.pets IN EXCLUSIVE MODE');
      await putItems(client, items);
    });
  }

  remove(petId: bigint): Promise<boolean> {
    return this.#pets.remove(petId);
  }

  /** Those who write wait until it is done; those who read go on with the previous stock. */
  replace(stock: Stock, { forgetsUsage }: { readonly forgetsUsage: boolean }): Promise<void> {
    return this.#connections.transact(async (client) => {
      await withoutTimeouts(client);
      await patiently(client, 'LOCK TABLE petstock_service.pets, petstock_service.orders IN EXCLUSIVE MODE');
      await patiently(client, 'DELETE FROM petstock_service.pets; DELETE FROM petstock_service.orders');
      await fillStock(client, stock);
      if (forgetsUsage) await patiently(client, FORGET_USAGE);
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const isIdle = Promise.all([this.#keys.idle(), this.#pets.idle(), this.#inventory.idle(), this.journal.flush()]);
    // A database that does not answer is not to hold up the end of the service.
    await Promise.race([isIdle, sleep(UNFINISHED_MS, undefined, { ref: false })]);
    await this.#connections.close();
  }

  #seen({ now, moved, faultsVersion }: Seen): void {
    this.#time.seen(now, moved);
    this.faults.seen(faultsVersion);
  }
}
