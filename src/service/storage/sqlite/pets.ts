import { forgetUsageSql, nextPage, PAGE, type Page, pageSql, SMALLEST_ID } from '../rows.ts';
import type { StockStorage } from '../storage.ts';
import {
  type Database,
  guarded,
  IN_MEMORY,
  inTransaction,
  openDatabase,
  type Prepare,
  patiently,
  type Statement,
  VERY_PATIENT,
} from './database.ts';
import type { GroupCommit } from './group-commit.ts';
import { fillStock, putItems, settle } from './schema.ts';

const QUERY = pageSql('pets', "group_concat(item, ',')");

/** The texts of all pages in the order of ids. To see one state of them, hold a transaction meanwhile. */
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
  /** @throws StorageError if the file is not ours any more */
  requireOwn(): void;
}

export function sqlitePets({ file, database, sql, commits, requireOwn }: Opened): StockStorage & { close(): void } {
  const shortList = shortListOf(sql);
  const snapshots = snapshotsOf(file, sql);
  /** Changes one pet, and returns its row; null if there is none. */
  const change = <Row>(statement: string, ...values: readonly (bigint | string)[]): Promise<Row | null> =>
    commits.run(() => {
      shortList.changed();
      return sql(statement).get(...values) ?? null;
    });
  /** A transaction of its own: between two turns none is open. */
  const alone = async (work: () => void) => {
    await patiently(() => {
      shortList.changed();
      inTransaction(database, () => {
        requireOwn();
        work();
      });
    }, VERY_PATIENT);
    settle(database);
  };
  const texts = async (statement: string) => {
    const rows: readonly { readonly text: string }[] = await patiently(() => sql(statement).all());
    return rows.map(({ text }) => text);
  };
  return {
    async *inventory() {
      // A single statement is a snapshot by itself, and the connection for writes has its pages at hand.
      const single = await patiently(() => shortList.read());
      if (single === null) yield* snapshots.read();
      else if (single !== '') yield single;
    },
    find: async (petId) => {
      const find = 'SELECT id AS petId, quantity, status, record FROM pets WHERE id = ?';
      const row = await patiently(() => sql(find).get(petId));
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
    replace: (stock, { forgetsUsage }) =>
      alone(() => {
        database.exec('DELETE FROM pets; DELETE FROM orders');
        fillStock(database, stock);
        if (forgetsUsage) database.exec(forgetUsageSql('keys'));
      }),
    close: () => snapshots.close(),
  };
}

/**
 * The whole inventory if one page holds it, read once for all who ask before anything is written. What this connection
 * writes, it is notified of; what others write shows in SQLite's data version.
 */
function shortListOf(sql: Prepare) {
  let version: bigint | null = null;
  let text: string | null = null;
  return {
    /** Null if it is longer than a page. */
    read: (): string | null => {
      const { data_version: current } = sql('PRAGMA data_version').get();
      if (current !== version) {
        const page: Page = sql(QUERY).get(SMALLEST_ID);
        text = page.pets < PAGE ? (page.text ?? '') : null;
        version = current;
      }
      return text;
    },
    /** To be called after a change of the inventory, and before it is answered. */
    changed: () => {
      version = null;
    },
  };
}

/** Connections kept open for the next reader; with more readers at once, the others open their own. */
const IDLE_KEPT = 2;

/**
 * Reads the whole inventory as it is at one moment, however slowly, while others write.
 * @param sql of the connection for writes: a database in memory has no other one
 */
function snapshotsOf(file: string, sql: Prepare) {
  const idle: Reader[] = [];
  const busy = new Set<Reader>();
  /** One connection a reader: the write-ahead log keeps the state that its transaction began with. */
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
    // With a single connection, what is to be one state is read at once.
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
