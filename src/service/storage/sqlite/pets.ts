import { clearUsageSql, nextPage, PAGE, type Page, pageSql, SMALLEST_ID } from '../rows.ts';
import type { StockStorage } from '../storage.ts';
import {
  type Database,
  guarded,
  IN_MEMORY,
  inTransaction,
  openDatabase,
  PAUSES_FOR_IMPORT,
  type Prepare,
  retryWhileBusy,
  type Statement,
} from './database.ts';
import type { GroupCommit } from './group-commit.ts';
import { fillStock, putItems, settle } from './schema.ts';

const QUERY = pageSql('pets', "group_concat(item, ',')");

/** Yields the texts of all pages, ordered by id. The caller holds a transaction if they must form one snapshot. */
function* pagesOf(query: Statement): Generator<string, void> {
  for (let from: bigint | null = SMALLEST_ID; from !== null; ) {
    const page: Page = guarded(() => query.get(from));
    if (page.text !== null) yield page.text;
    from = nextPage(page);
  }
}

interface Opened {
  readonly file: string;
  readonly database: Database;
  readonly sql: Prepare;
  readonly commits: GroupCommit;
  /** @throws StorageError if the file was replaced, or belongs to a later version */
  requireOwn(): void;
}

export function sqlitePets({ file, database, sql, commits, requireOwn }: Opened): StockStorage & { close(): void } {
  const inventory = cachedInventory(sql);
  const snapshots = snapshotsOf(file, sql);
  /** Changes one pet, and returns its row; null if there is none. */
  const change = <Row>(statement: string, ...values: readonly (bigint | string)[]): Promise<Row | null> =>
    commits.run(() => {
      inventory.changed();
      return sql(statement).get(...values) ?? null;
    });
  /** Runs `work` in its own transaction. No other one is open, because each ends in the turn in which it begins. */
  const alone = async (work: () => void) => {
    await retryWhileBusy(() => {
      inventory.changed();
      inTransaction(database, () => {
        requireOwn();
        work();
      });
    }, PAUSES_FOR_IMPORT);
    settle(database);
  };
  const texts = async (statement: string) => {
    const rows: readonly { readonly text: string }[] = await retryWhileBusy(() => sql(statement).all());
    return rows.map(({ text }) => text);
  };
  return {
    async *inventory() {
      // A single statement is a snapshot by itself, and the connection for writes has the pages in its cache.
      const single = await retryWhileBusy(() => inventory.read());
      if (single === null) yield* snapshots.read();
      else if (single !== '') yield single;
    },
    find: async (petId) => {
      const find = 'SELECT id AS petId, quantity, status, record FROM pets WHERE id = ?';
      const row = await retryWhileBusy(() => sql(find).get(petId));
      return row === undefined ? null : { ...row, record: row.record ?? undefined };
    },
    setQuantity: (petId, quantity) =>
      change('UPDATE pets SET quantity = ? WHERE id = ? RETURNING id AS petId, quantity, status', quantity, petId),
    setStatus: (petId, status) =>
      change('UPDATE pets SET status = ? WHERE id = ? RETURNING id AS petId, quantity, status', status, petId),
    orders: () => texts('SELECT body AS text FROM orders ORDER BY position'),
    records: () => texts('SELECT record AS text FROM pets WHERE record IS NOT NULL ORDER BY id'),
    remove: async (petId) => (await change('DELETE FROM pets WHERE id = ? RETURNING id', petId)) !== null,
    put: (items) => alone(() => putItems(database, items)),
    replace: (stock, { clearsUsage }) =>
      alone(() => {
        database.exec('DELETE FROM pets; DELETE FROM orders');
        fillStock(database, stock);
        if (clearsUsage) database.exec(clearUsageSql('keys'));
      }),
    close: () => snapshots.close(),
  };
}

/**
 * Creates a cache of the inventory, for an inventory that fits on one page. All requests share it until something is
 * written. The caller reports the writes of this connection; SQLite's data version shows those of other connections.
 */
function cachedInventory(sql: Prepare) {
  let version: bigint | null = null;
  let text: string | null = null;
  return {
    /** Returns the text of all items; null if the inventory is longer than a page. */
    read: (): string | null => {
      const { data_version: current } = sql('PRAGMA data_version').get();
      if (current !== version) {
        const page: Page = sql(QUERY).get(SMALLEST_ID);
        text = page.pets < PAGE ? (page.text ?? '') : null;
        version = current;
      }
      return text;
    },
    /** Call this in the turn of the event loop that changes the inventory. */
    changed: () => {
      version = null;
    },
  };
}

/**
 * Number of connections kept open for the next reader. If there are more readers at the same time, the others open
 * their own.
 */
const IDLE_KEPT = 2;

/**
 * Returns a reader of snapshots of the whole inventory. A slow read does not block writers.
 * @param sql the statements of the connection for writes (a database in memory has no other connection)
 */
function snapshotsOf(file: string, sql: Prepare) {
  const idle: Reader[] = [];
  const busy = new Set<Reader>();
  /** Yields a snapshot of a file: that of a transaction on a connection of its own, kept by the write-ahead log. */
  function* readFile(): Generator<string, void> {
    const reader = idle.pop() ?? guarded(() => readerOf(file));
    const { database, query } = reader;
    busy.add(reader);
    try {
      guarded(() => database.exec('BEGIN'));
      yield* pagesOf(query);
    } finally {
      if (database.isOpen && database.isTransaction) database.exec('ROLLBACK');
      busy.delete(reader);
      if (idle.length < IDLE_KEPT) idle.push(reader);
      else database.close();
    }
  }
  return {
    // With a single connection, a snapshot has to be read at once.
    read: () => (file === IN_MEMORY ? [...pagesOf(guarded(() => sql(QUERY)))] : readFile()),
    close: () => {
      for (const { database } of [...idle, ...busy]) database.close();
    },
  };
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
