import { Lane } from '../lane.ts';
import { nextPage, PAGE, type Page, pageSql, SMALLEST_ID } from '../rows.ts';
import { type Client, type Connections, numbered } from './connections.ts';

const QUERY = numbered(pageSql('petstock_service.pets', "string_agg(item, ',' ORDER BY id)"));

/** The inventory in the order of ids, as it is at one moment. */
export class PostgresInventory {
  readonly #connections: Connections;
  /** One page holds most inventories: read once for all who ask before the reading begins. */
  readonly #firstPages = new Lane<null, string | null>(async (asked) => {
    const [page] = await this.#connections.read<Page>(QUERY, [SMALLEST_ID]);
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
    if (single === null) yield* this.#connections.snapshot(pagesOf);
    else if (single !== '') yield single;
  }
}

async function* pagesOf(client: Client): AsyncGenerator<string, void> {
  for (let from: bigint | null = SMALLEST_ID; from !== null; ) {
    const { rows } = await client.query<Page>({ name: 'page', text: QUERY, values: [from] });
    const page: Page = rows[0] ?? { pets: 0n, last_id: null, text: null };
    if (page.text !== null) yield page.text;
    from = nextPage(page);
  }
}
