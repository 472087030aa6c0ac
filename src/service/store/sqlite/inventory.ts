import { nextPage, PAGE, type Page, pageSql, SMALLEST_ID } from '../rows.ts';
import { type Database, guarded, IN_MEMORY, openDatabase, type Prepare, type Statement } from './database.ts';

const QUERY = pageSql('pets', "group_concat(item, ',')");

/** The texts of all pages in the order of ids. To see one state of them, hold a transaction meanwhile. */
function* pagesOf(query: Statement): Generator<string, void> {
  for (let from: bigint | null = SMALLEST_ID; from !== null; ) {
    const page: Page = guarded(() => query.get(from));
    if (page.text !== null) yield page.text;
    from = nextPage(page);
  }
}

/**
 * The whole inventory if one page holds it, read once for all who ask before anything is written. What this connection
 * writes, it is notified of; what others write shows in SQLite's data version.
 */
export class ShortList {
  readonly #sql: Prepare;
  #version: bigint | null = null;
  #text: string | null = null;

  constructor(sql: Prepare) {
    this.#sql = sql;
  }

  /** Null if it is longer than a page. */
  read(): string | null {
    const { data_version: version } = this.#sql('PRAGMA data_version').get();
    if (version !== this.#version) {
      const page: Page = this.#sql(QUERY).get(SMALLEST_ID);
      this.#text = page.pets < PAGE ? (page.text ?? '') : null;
      this.#version = version;
    }
    return this.#text;
  }

  /** To be called after a change of the inventory, and before it is answered. */
  changed(): void {
    this.#version = null;
  }
}

/** Reads the whole inventory as it is at one moment, however slowly, while others write. */
export class Snapshots {
  readonly #file: string;
  readonly #sql: Prepare;
  readonly #open = new Set<Database>();

  /** @param sql of the connection for writes: a database in memory has no other one */
  constructor(file: string, sql: Prepare) {
    this.#file = file;
    this.#sql = sql;
  }

  /** With a connection of its own: the write-ahead log keeps the state that its transaction began with. */
  async *read(): AsyncGenerator<string, void> {
    if (this.#file === IN_MEMORY) {
      // What is to be one state is read at once.
      yield* [...pagesOf(guarded(() => this.#sql(QUERY)))];
      return;
    }
    const database = guarded(() => openDatabase(this.#file, { readOnly: true }));
    this.#open.add(database);
    try {
      yield* pagesOf(
        guarded(() => {
          database.exec('PRAGMA cache_size = -256; BEGIN');
          return database.prepare(QUERY);
        }),
      );
    } finally {
      this.#open.delete(database);
      if (database.isOpen) database.close();
    }
  }

  close(): void {
    for (const database of this.#open) database.close();
  }
}
