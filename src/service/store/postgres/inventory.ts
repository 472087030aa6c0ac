import type { Client, Connections } from './connections.ts';
import { failure } from './failure.ts';
import { Lane } from './lane.ts';

/** Pets in a page: some 50 KiB of text. */
const PAGE = 1_000;

const SMALLEST_ID = -(2n ** 63n);
const LARGEST_ID = 2n ** 63n - 1n;

const QUERY = `
  SELECT count(*) AS pets, max(id) AS last_id, string_agg(item, ',' ORDER BY id) AS text
  FROM (
    SELECT id, '{"petId":' || id || ',"quantity":' || quantity || ',"status":"' || status || '"}' AS item
    FROM petstock_service.pets WHERE id >= $1 ORDER BY id LIMIT ${PAGE}
  ) AS page`;

interface Page {
  readonly pets: bigint;
  /** Null in an empty page, as is the text. */
  readonly last_id: bigint | null;
  readonly text: string | null;
}

/** The inventory in the order of ids, as it is at one moment. */
export class PostgresInventory {
  readonly #connections: Connections;
  /** One page holds most inventories: read once for all who ask before the reading begins. */
  readonly #firstPages = new Lane<null, string | null>(async (asked) => {
    const rows = await this.#connections.read<Page>(QUERY, [SMALLEST_ID]);
    const page = rows[0];
    const text = page !== undefined && page.pets < PAGE ? (page.text ?? '') : null;
    return asked.map(() => text);
  });

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  idle(): Promise<void> {
    return this.#firstPages.idle();
  }

  async *read(): AsyncGenerator<string, void> {
    const single = await this.#firstPages.run(null);
    if (single === null) yield* this.#readPages();
    else if (single !== '') yield single;
  }

  /** A connection of its own, with a snapshot that lasts for as long as the reader takes. */
  async *#readPages(): AsyncGenerator<string, void> {
    const { client, release } = await this.#connections.reader();
    let isDone = false;
    try {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      yield* pagesOf(client);
      await client.query('COMMIT');
      isDone = true;
    } catch (error) {
      throw failure(error, false);
    } finally {
      // One that is left in the middle is ended with it: its snapshot holds up the cleaning of what others write.
      release(isDone ? false : !(await hasEnded(client)));
    }
  }
}

async function* pagesOf(client: Client): AsyncGenerator<string, void> {
  let from = SMALLEST_ID;
  for (;;) {
    const { rows } = await client.query<Page>({ name: 'page', text: QUERY, values: [from] });
    const page = rows[0];
    if (page === undefined || page.text === null || page.last_id === null) return;
    yield page.text;
    if (page.pets < PAGE || page.last_id === LARGEST_ID) return;
    from = page.last_id + 1n;
  }
}

function hasEnded(client: Client): Promise<boolean> {
  return client.query('ROLLBACK').then(
    () => true,
    () => false,
  );
}
