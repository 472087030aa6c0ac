import { type Database, guarded, IN_MEMORY, openDatabase, type Statement } from './database.ts';

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

/**
 * The whole inventory where one page holds it, read once for all who ask before anything is written. What this connection
 * writes, it is notified of; what others write shows in SQLite's data version.
 */
export class ShortList {
  readonly #pages: Pages;
  readonly #dataVersion: Statement;
  #version: bigint | null = null;
  #text: string | null = null;

  constructor(database: Database, pages: Pages) {
    this.#pages = pages;
    this.#dataVersion = database.prepare('PRAGMA data_version');
  }

  /** Null when it is longer than a page. */
  read(): string | null {
    const { data_version: version } = this.#dataVersion.get();
    if (version !== this.#version) {
      this.#text = this.#pages.single();
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
export interface Snapshots {
  read(): AsyncGenerator<string, void>;
  close(): void;
}

export function snapshotsOf(file: string, database: Database): Snapshots {
  return file === IN_MEMORY ? new MemorySnapshots(database) : new FileSnapshots(file);
}

/** One connection a reader: the write-ahead log keeps the state that its transaction began with. */
class FileSnapshots implements Snapshots {
  readonly #file: string;
  readonly #idle: Reader[] = [];
  readonly #busy = new Set<Reader>();

  constructor(file: string) {
    this.#file = file;
  }

  async *read(): AsyncGenerator<string, void> {
    const reader = this.#idle.pop() ?? guarded(() => new Reader(this.#file));
    this.#busy.add(reader);
    try {
      yield* reader.read();
    } finally {
      this.#busy.delete(reader);
      if (this.#idle.length < IDLE_KEPT) this.#idle.push(reader);
      else reader.close();
    }
  }

  close(): void {
    for (const reader of [...this.#idle, ...this.#busy]) reader.close();
  }
}

class Reader {
  readonly #database: Database;
  readonly #pages: Pages;

  constructor(file: string) {
    this.#database = openDatabase(file, { readOnly: true });
    this.#database.exec('PRAGMA cache_size = -256');
    this.#pages = new Pages(this.#database);
  }

  *read(): Generator<string, void> {
    guarded(() => this.#database.exec('BEGIN'));
    try {
      yield* this.#pages.read();
    } finally {
      if (this.#database.isOpen && this.#database.isTransaction) this.#database.exec('ROLLBACK');
    }
  }

  close(): void {
    this.#database.close();
  }
}

/** A database in memory has a single connection: what is to be one state is read at once. */
class MemorySnapshots implements Snapshots {
  readonly #pages: Pages;

  constructor(database: Database) {
    this.#pages = new Pages(database);
  }

  async *read(): AsyncGenerator<string, void> {
    yield* [...this.#pages.read()];
  }

  close(): void {}
}
