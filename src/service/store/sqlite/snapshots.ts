import { type Database, guarded, IN_MEMORY, openDatabase } from './database.ts';
import { Pages } from './pages.ts';

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
