import type { InventoryItem, PetStatus, StockItem } from '../../seed/stock.ts';
import { RequestBatcher } from '../request-batcher.ts';
import { clearUsageSql, nextPage, PAGE, type Page, pageSql, SMALLEST_ID } from '../rows.ts';
import { type StockStorage, StorageError } from '../storage.ts';
import { type Client, type Connections, numbered, type Prepared } from './connections.ts';
import { ANSWER_MS } from './database-errors.ts';
import { fillStock, putItems, queryWithLongTimeout, withoutTimeouts } from './schema.ts';

interface PetRow {
  readonly id: bigint;
  readonly quantity: bigint;
  readonly status: PetStatus;
  readonly record: string | null;
}

/** A row that an update returns. If there was no pet to update, the only row has no pet. */
interface UpdatedRow {
  readonly in_time: boolean;
  readonly id: bigint | null;
  readonly status: PetStatus | null;
}

type Update = Pick<InventoryItem, 'petId' | 'quantity'>;

const PAGES = { name: 'page', text: numbered(pageSql('petstock_service.pets', "string_agg(item, ',' ORDER BY id)")) };

/** Time limit in milliseconds for results that may be as long as the stock. */
const ALL_MS = 60_000;

/**
 * Returns the storage of the stock. Each round trip serves all pending requests for single pets.
 * @param now returns the time of the database, or slightly less, in milliseconds since the Unix epoch
 */
export function postgresPets(connections: Connections, now: () => number): StockStorage & { idle(): Promise<unknown> } {
  const updates = new RequestBatcher((asked: readonly Update[]) => setAll(connections, asked, now() + ANSWER_MS));
  const finds = new RequestBatcher((asked: readonly bigint[]) => findAll(connections, asked));
  // Most inventories fit on one page. It is read once for all requests that arrive before the reading starts.
  const firstPages = new RequestBatcher<null, string | null>(async (asked) => {
    const [page] = await connections.read<Page>(PAGES, [SMALLEST_ID]);
    const text = page !== undefined && page.pets < PAGE ? (page.text ?? '') : null;
    return asked.map(() => text);
  });
  const texts = async (statement: string) => {
    const rows = await connections.read<{ readonly text: string }>(statement, [], ALL_MS);
    return rows.map(({ text }) => text);
  };
  return {
    idle: () => Promise.all([updates.idle(), finds.idle(), firstPages.idle()]),
    async *inventory(who = '') {
      const single = await firstPages.run(null);
      if (single === null) yield* connections.snapshot(pagesOf, who);
      else if (single !== '') yield single;
    },
    find: (petId) => finds.run(petId),
    setQuantity: (petId, quantity) => updates.run({ petId, quantity }),
    setStatus: async (petId, status) => {
      const [item] = await connections.change<InventoryItem>(
        'UPDATE petstock_service.pets SET status = $2 WHERE id = $1 RETURNING id AS "petId", quantity, status',
        [petId, status],
      );
      return item ?? null;
    },
    orders: () => texts('SELECT body AS text FROM petstock_service.orders ORDER BY position'),
    records: () => texts('SELECT record AS text FROM petstock_service.pets WHERE record IS NOT NULL ORDER BY id'),
    remove: async (petId) => {
      const removed = 'DELETE FROM petstock_service.pets WHERE id = $1 RETURNING id';
      return (await connections.change(removed, [petId])).length > 0;
    },
    put: (items) =>
      connections.transact(async (client) => {
        await withoutTimeouts(client);
        await queryWithLongTimeout(client, 'LOCK TABLE petstock_service.pets IN EXCLUSIVE MODE');
        await putItems(client, items);
      }),
    // Writers wait until the stock is replaced; readers continue with the previous stock.
    replace: (stock, { clearsUsage }) =>
      connections.transact(async (client) => {
        await withoutTimeouts(client);
        await queryWithLongTimeout(
          client,
          'LOCK TABLE petstock_service.pets, petstock_service.orders IN EXCLUSIVE MODE',
        );
        await queryWithLongTimeout(client, 'DELETE FROM petstock_service.pets; DELETE FROM petstock_service.orders');
        await fillStock(client, stock);
        if (clearsUsage) await queryWithLongTimeout(client, clearUsageSql('petstock_service.keys'));
      }),
  };
}

async function* pagesOf(client: Client): AsyncGenerator<string, void> {
  for (let from: bigint | null = SMALLEST_ID; from !== null; ) {
    const { rows } = await client.query<Page>({ ...PAGES, values: [from] });
    const page: Page = rows[0] ?? { pets: 0n, last_id: null, text: null };
    if (page.text !== null) yield page.text;
    from = nextPage(page);
  }
}

const FIND: Prepared = {
  name: 'find',
  text: 'SELECT id, quantity, status, record FROM petstock_service.pets WHERE id = ANY($1::bigint[])',
};

async function findAll(connections: Connections, petIds: readonly bigint[]): Promise<readonly (StockItem | null)[]> {
  const rows = await connections.read<PetRow>(FIND, [[...new Set(petIds)]]);
  const found = new Map(rows.map((row) => [row.id, row]));
  return petIds.map((petId) => {
    const row = found.get(petId);
    if (row === undefined) return null;
    return { petId, quantity: row.quantity, status: row.status, record: row.record ?? undefined };
  });
}

/** Locks the rows, checks the time and writes, in one round trip. */
const SET: Prepared = {
  name: 'set',
  text: `WITH wanted AS (SELECT * FROM unnest($1::bigint[], $2::bigint[]) AS given (id, quantity)),
     locked AS MATERIALIZED (
       SELECT id FROM petstock_service.pets WHERE id IN (SELECT id FROM wanted) ORDER BY id FOR NO KEY UPDATE
     ),
     due AS MATERIALIZED (SELECT clock_timestamp() < to_timestamp($3::float8 / 1000) AS in_time FROM (SELECT count(*) FROM locked) AS all_locked),
     updated AS (
       UPDATE petstock_service.pets AS p SET quantity = w.quantity
       FROM due, locked AS l JOIN wanted AS w ON w.id = l.id WHERE p.id = l.id AND due.in_time RETURNING p.id, p.status
     )
     SELECT due.in_time, updated.id, updated.status FROM due LEFT JOIN updated ON true`,
};

/**
 * Sets quantities. If a pet is updated several times, the last update counts, and each gets the response that it would
 * get if they ran one after another. Rows are locked in the order of ids, so that two services don't deadlock.
 *
 * A statement may be stuck in front of a stalled server for longer than its client waits. The client was then told that
 * the outcome is unknown, and may have read the stock and written again, so the late statement must not change
 * anything. A statement that has locked its rows is in time, because any later writer waits for it.
 * @param deadline the latest time by the clock of the database, in milliseconds since the Unix epoch
 */
async function setAll(
  connections: Connections,
  updates: readonly Update[],
  deadline: number,
): Promise<readonly (InventoryItem | null)[]> {
  const last = new Map(updates.map(({ petId, quantity }) => [petId, quantity]));
  const rows = await connections.change<UpdatedRow>(SET, [[...last.keys()], [...last.values()], deadline]);
  if (rows[0]?.in_time !== true) throw new StorageError('The change reached the database too late and was not made');
  const statuses = new Map(rows.map(({ id, status }) => [id, status]));
  return updates.map(({ petId, quantity }) => {
    const status = statuses.get(petId);
    return status === undefined || status === null ? null : { petId, quantity, status };
  });
}
