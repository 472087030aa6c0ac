import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import { digestOf } from '../../keys/key.ts';
import type { Admission, LimitRules, Usage } from '../../limits/admission.ts';
import type { InventoryItem, PetStatus, Stock, StockItem } from '../../seed/stock.ts';
import { Lane } from '../lane.ts';
import {
  forgetUsageSql,
  type KeyRow,
  nextPage,
  PAGE,
  type Page,
  pageSql,
  recordOf,
  registerSql,
  SMALLEST_ID,
} from '../rows.ts';
import type { Entitlement, KeyRecord, Registration, Store } from '../store.ts';
import { type Client, Connections, numbered } from './connections.ts';
import { BY_ID, PostgresKeys } from './keys.ts';
import { PostgresPets } from './pets.ts';
import {
  fillStock,
  LOOK,
  type Look,
  NOW,
  patiently,
  prepare,
  putItems,
  requirePrepared,
  type Seen,
  seenIn,
  withoutTimeouts,
} from './schema.ts';

export interface PostgresOptions {
  /** `postgres://user:password@host:5432/database?sslmode=verify-full`; several are servers of one database, as `Connections` uses them. */
  readonly urls: readonly string[];
  /** The stock of new tables. */
  readonly stock: Stock;
  /** Of this machine. It only bridges the time between two answers of the database, and may be wrong. */
  readonly clock: Clock;
  /** Whether to look at what is there without making or changing any table. */
  readonly onlyLooks?: boolean;
}

/** The smallest change that there is, with what a look learns. */
const CHECK = `WITH changed AS (UPDATE petstock_service.service SET version = version RETURNING single) ${LOOK}, changed`;

/** How long what is under way may take when the store is closed. */
const UNFINISHED_MS = 2_000;

const PAGES = numbered(pageSql('petstock_service.pets', "string_agg(item, ',' ORDER BY id)"));

/** Milliseconds for what may be as long as the stock. */
const ALL_MS = 60_000;

/** A store for any number of services on any number of machines: the schema `petstock_service` of a PostgreSQL 15 or later. */
export class PostgresStore implements Store {
  readonly #connections: Connections;
  readonly #clock: Clock;
  /** How far the clock of the database is ahead of this machine's, and how much of that is by administration: milliseconds. */
  #ahead = 0;
  #moved = 0;
  readonly #keys: PostgresKeys;
  readonly #pets: PostgresPets;
  /** One page holds most inventories: read once for all who ask before the reading begins. */
  readonly #firstPages = new Lane<null, string | null>(async (asked) => {
    const [page] = await this.#connections.read<Page>(PAGES, [SMALLEST_ID]);
    const text = page !== undefined && page.pets < PAGE ? (page.text ?? '') : null;
    return asked.map(() => text);
  });
  #closing: Promise<void> | null = null;

  /** Opens the database; new tables are made and filled with the stock. */
  static async open({ urls, stock, clock, onlyLooks = false }: PostgresOptions): Promise<PostgresStore> {
    const connections = new Connections(urls, clock);
    try {
      await connections.requireSessions();
      await (onlyLooks ? requirePrepared(connections) : prepare(connections, stock));
      const store = new PostgresStore(connections, clock);
      store.#seen(seenIn((await connections.read<Look>(LOOK))[0]));
      return store;
    } catch (error) {
      await connections.close();
      throw error;
    }
  }

  private constructor(connections: Connections, clock: Clock) {
    this.#connections = connections;
    this.#clock = clock;
    this.#keys = new PostgresKeys(connections, (seen) => this.#seen(seen));
    this.#pets = new PostgresPets(connections, () => this.now() - this.#moved);
  }

  /** Never ahead of the database by more than the clocks drift apart between two answers of it, since an answer takes time. */
  now(): number {
    return Math.floor(this.#clock.now() + this.#ahead);
  }

  get pool() {
    return this.#connections.pool;
  }

  async advance(milliseconds: number): Promise<void> {
    await this.#connections.change('UPDATE petstock_service.service SET ahead = ahead + $1', [
      BigInt(Math.round(milliseconds)),
    ]);
    await this.check();
  }

  async check(): Promise<void> {
    const { wroteLately } = this.#connections;
    const rows = await (wroteLately ? this.#connections.read<Look>(LOOK) : this.#connections.change<Look>(CHECK));
    this.#seen(seenIn(rows[0]));
  }

  async register(key: string, { plan, limits }: Entitlement, { keepsKnown, origin }: Registration): Promise<void> {
    const register = numbered(registerSql('petstock_service.keys', NOW, keepsKnown));
    const digest = Buffer.from(digestOf(key), 'hex');
    await this.#connections.change(register, [digest, plan, limits.minute, limits.day, origin ?? null]);
  }

  async revoke(id: string): Promise<KeyRecord | null> {
    const [row] = await this.#connections.change<KeyRow>(
      `UPDATE petstock_service.keys SET revoked_at = coalesce(revoked_at, ${NOW}) WHERE ${BY_ID} RETURNING *`,
      [id],
    );
    return row === undefined ? null : recordOf(row);
  }

  async keys(): Promise<readonly KeyRecord[]> {
    const statement = 'SELECT * FROM petstock_service.keys ORDER BY created_at, digest';
    return (await this.#connections.read<KeyRow>(statement)).map(recordOf);
  }

  admit(key: string, rules: LimitRules): Promise<Admission | null> {
    return this.#keys.admit(key, rules);
  }

  changeUsage(id: string, change: (usage: Usage, now: number) => Usage): Promise<KeyRecord | null> {
    return this.#keys.changeUsage(id, change);
  }

  async *inventory(): AsyncGenerator<string, void> {
    const single = await this.#firstPages.run(null);
    if (single === null) yield* this.#connections.snapshot(pagesOf);
    else if (single !== '') yield single;
  }

  find(petId: bigint): Promise<StockItem | null> {
    return this.#pets.find(petId);
  }

  setQuantity(petId: bigint, quantity: bigint): Promise<InventoryItem | null> {
    return this.#pets.setQuantity(petId, quantity);
  }

  async setStatus(petId: bigint, status: PetStatus): Promise<InventoryItem | null> {
    const [item] = await this.#connections.change<InventoryItem>(
      'UPDATE petstock_service.pets SET status = $2 WHERE id = $1 RETURNING id AS "petId", quantity, status',
      [petId, status],
    );
    return item ?? null;
  }

  orders(): Promise<readonly string[]> {
    return this.#texts('SELECT body AS text FROM petstock_service.orders ORDER BY position');
  }

  records(): Promise<readonly string[]> {
    return this.#texts('SELECT record AS text FROM petstock_service.pets WHERE record IS NOT NULL ORDER BY id');
  }

  async remove(petId: bigint): Promise<boolean> {
    const removed = 'DELETE FROM petstock_service.pets WHERE id = $1 RETURNING id';
    return (await this.#connections.change(removed, [petId])).length > 0;
  }

  put(items: Iterable<StockItem>): Promise<void> {
    return this.#connections.transact(async (client) => {
      await withoutTimeouts(client);
      await patiently(client, 'LOCK TABLE petstock_service.pets IN EXCLUSIVE MODE');
      await putItems(client, items);
    });
  }

  /** Those who write wait until it is done; those who read go on with the previous stock. */
  replace(stock: Stock, { forgetsUsage }: { readonly forgetsUsage: boolean }): Promise<void> {
    return this.#connections.transact(async (client) => {
      await withoutTimeouts(client);
      await patiently(client, 'LOCK TABLE petstock_service.pets, petstock_service.orders IN EXCLUSIVE MODE');
      await patiently(client, 'DELETE FROM petstock_service.pets; DELETE FROM petstock_service.orders');
      await fillStock(client, stock);
      if (forgetsUsage) await patiently(client, forgetUsageSql('petstock_service.keys'));
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const isIdle = Promise.all([this.#keys.idle(), this.#pets.idle(), this.#firstPages.idle()]);
    // A database that does not answer is not to hold up the end of the service.
    await Promise.race([isIdle, sleep(UNFINISHED_MS, undefined, { ref: false })]);
    await this.#connections.close();
  }

  async #texts(statement: string): Promise<readonly string[]> {
    const rows = await this.#connections.read<{ readonly text: string }>(statement, [], ALL_MS);
    return rows.map(({ text }) => text);
  }

  #seen({ now, moved }: Seen): void {
    this.#ahead = now - this.#clock.now();
    this.#moved = moved;
  }
}

async function* pagesOf(client: Client): AsyncGenerator<string, void> {
  for (let from: bigint | null = SMALLEST_ID; from !== null; ) {
    const { rows } = await client.query<Page>({ name: 'page', text: PAGES, values: [from] });
    const page: Page = rows[0] ?? { pets: 0n, last_id: null, text: null };
    if (page.text !== null) yield page.text;
    from = nextPage(page);
  }
}
