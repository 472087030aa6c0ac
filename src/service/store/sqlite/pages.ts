import { type Database, guarded, type Statement } from './database.ts';

/** Pets in a page: some 50 KiB of text, read in a fraction of a millisecond. */
const PAGE = 1_000;

const SMALLEST_ID = -(2n ** 63n);
const LARGEST_ID = 2n ** 63n - 1n;

const QUERY = `
  SELECT count(*) AS pets, max(id) AS lastId, group_concat(item, ',') AS text
  FROM (
    SELECT id, '{"petId":' || id || ',"quantity":' || quantity || ',"status":"' || status || '"}' AS item
    FROM pets WHERE id >= ? ORDER BY id LIMIT ${PAGE}
  )`;

interface Page {
  readonly pets: bigint;
  /** Null in an empty page, as is the text. */
  readonly lastId: bigint | null;
  readonly text: string | null;
}

/** Reads the inventory page by page, in the order of ids. To see one state of it, hold a transaction meanwhile. */
export class Pages {
  readonly #query: Statement;

  constructor(database: Database) {
    this.#query = database.prepare(QUERY);
  }

  /** The whole inventory as one page; null when it is longer than that. */
  single(): string | null {
    const page = this.#page(SMALLEST_ID);
    return page.pets < PAGE ? (page.text ?? '') : null;
  }

  *read(): Generator<string, void> {
    let from = SMALLEST_ID;
    for (;;) {
      const page = this.#page(from);
      if (page.text === null || page.lastId === null) return;
      yield page.text;
      if (page.pets < PAGE || page.lastId === LARGEST_ID) return;
      from = page.lastId + 1n;
    }
  }

  #page(from: bigint): Page {
    return guarded(() => this.#query.get(from));
  }
}
