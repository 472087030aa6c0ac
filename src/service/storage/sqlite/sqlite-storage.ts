import { statSync } from 'node:fs';
import { shellWord } from '../../../shared/hint.ts';
import type { Clock } from '../../clock.ts';
import type { SeedStock } from '../../seed/stock.ts';
import { PROOF_MS } from '../rows.ts';
import { type ServiceStorage, StorageError } from '../storage.ts';
import { BUSY_MS, type Database, guarded, IN_MEMORY, openDatabase, prepareOnce, retryWhileBusy } from './database.ts';
import { GroupCommit } from './group-commit.ts';
import { sqliteKeys } from './keys.ts';
import { sqlitePets } from './pets.ts';
import { CURRENT, laterVersion, prepareDatabase, STARTING_MS, versionOf } from './schema.ts';

/**
 * Returns a check that throws StorageError once the file that was opened is no longer at its path. On most systems a
 * deleted or replaced file can still be written to, and everything written is lost.
 */
function presenceOf(file: string): () => void {
  const opened = file === IN_MEMORY ? null : identityOf(file);
  return () => {
    if (opened === null || identityOf(file) === opened) return;
    throw new StorageError(`${file} was deleted or replaced while in use. Start the service again`);
  };
}

/** Returns the identity of a file; '' if there is no file. */
function identityOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.dev} ${found.ino}`;
}

const OLD =
  'is empty or from an earlier version of petstock. To create or upgrade it, run petstock sandbox serve --file';

const REWRITE = `UPDATE keys SET plan = plan WHERE digest = (SELECT min(digest) FROM keys);
  UPDATE pets SET quantity = quantity WHERE id = (SELECT min(id) FROM pets);
  PRAGMA user_version = ${CURRENT}`;

/**
 * Opens the embedded storage: one SQLite file in write-ahead mode, or a database in memory. A new file is created and
 * filled with the stock. Several processes may share a file. Moving the clock affects only one process.
 * @param readOnly whether to create and change nothing; the file must then exist and have this version
 */
export async function openSqlite(
  file: string,
  stock: SeedStock,
  clock: Clock,
  readOnly = false,
): Promise<ServiceStorage> {
  const database = guarded(() => openDatabase(file, { timeout: STARTING_MS, readOnly }));
  try {
    const isNew = !readOnly && (await prepareDatabase(database, stock));
    if (versionOf(database) !== CURRENT) throw new StorageError(`${file} ${OLD} ${shellWord(file)}`);
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    return { isNew, ...storeOf(file, database, clock) };
  } catch (error) {
    database.close();
    throw error;
  }
}

function storeOf(file: string, database: Database, clock: Clock): Omit<ServiceStorage, 'isNew'> {
  /** Milliseconds by which the administration has moved the clock. */
  let ahead = 0;
  /** When the last test change succeeded; undefined if a commit has failed since. */
  let provenAt: number | undefined;
  const requirePresent = presenceOf(file);
  const sql = prepareOnce(database);
  /** @throws StorageError if the file was replaced, or changed by a later version of petstock */
  const requireOwn = () => {
    requirePresent();
    const { user_version: version } = sql('PRAGMA user_version').get();
    if (version !== CURRENT) throw laterVersion(database.location() ?? 'the database', version);
  };
  const commits = new GroupCommit(database, requireOwn, () => {
    provenAt = undefined;
  });
  const now = () => Math.floor(clock.now()) + ahead;
  const { idle, ...keys } = sqliteKeys(sql, commits, now);
  const { close: closePets, ...pets } = sqlitePets({ file, database, sql, commits, requireOwn });
  return {
    ...keys,
    ...pets,
    now,
    advance: async (milliseconds) => {
      ahead += Math.round(milliseconds);
    },
    check: async () => {
      if (provenAt !== undefined && Math.abs(clock.now() - provenAt) < PROOF_MS) return retryWhileBusy(requireOwn);
      // Writes as many pages as a request would, without changing anything: on a full disk there may still be room for
      // a single page.
      await commits.run(() => database.exec(REWRITE));
      provenAt = clock.now();
    },
    close: async () => {
      await idle();
      await commits.idle();
      if (!database.isOpen) return;
      closePets();
      database.close();
    },
  };
}
