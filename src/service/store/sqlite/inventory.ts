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

/** Connections kept open for the next reader; with more readers at once, the others open their own. */
const IDLE_KEPT = 2;

/** Reads the whole inventory as it is at one moment, however slowly, while others write. */
export class Snapshots {
  readonly #file: string;
  readonly #sql: Prepare;
  readonly #idle: Reader[] = [];
  readonly #busy = new Set<Reader>();

  /** @param sql of the connection for writes: a database in memory has no other one */
  constructor(file: string, sql: Prepare) {
    this.#file = file;
    this.#sql = sql;
  }

  async *read(): AsyncGenerator<string, void> {
    // With a single connection, what is to be one state is read at once.
    if (this.#file === IN_MEMORY) yield* [...pagesOf(guarded(() => this.#sql(QUERY)))];
    else yield* this.#readFile();
  }

  close(): void {
    for (const { database } of [...this.#idle, ...this.#busy]) database.close();
  }

  /** One connection a reader: the write-ahead log keeps the state that its transaction began with. */
  *#readFile(): Generator<string, void> {
    const reader = this.#idle.pop() ?? guarded(() => readerOf(this.#file));
    const { database, query } = reader;
    this.#busy.add(reader);
    try {
      guarded(() => database.exec('BEGIN'));
      yield* pagesOf(query);
    } finally {
      if (database.isOpen && database.isTransaction) database.exec('ROLLBACK');
      this.#busy.delete(reader);
      if (this.#idle.length < IDLE_KEPT) this.#idle.push(reader);
      else database.close();
    }
  }
}

interface Reader {
  readonly database: Database;
  readonly query: Statement;
}

function readerOf(file: string): Reader {
  const database = openDatabase(file, { readOnly: true });
  database.exec('PRAGMA cache_size = -256');
  return { database, query: database.prepare(QUERY) };
}
