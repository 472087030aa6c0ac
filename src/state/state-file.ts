import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { syncPath } from '../shared/atomic-file.ts';
import type { Clock } from '../shared/clock.ts';
import { FailureError, fileErrorReason, systemCode, UnavailableError } from '../shared/errors.ts';
import { shellWord } from '../shared/hint.ts';
import { makePrivateFolder, otherFolderHint, requirePrivateFile } from '../shared/private-files.ts';
import { awaitLock, isBusy, retryBusy, sqlite, sqliteCodeOf, sqliteCodes } from '../shared/sqlite-engine.ts';
import { OtherVersionError, otherVersion, schemaOf030, schemaVersion, tables } from './schema.ts';
import type { Answer } from './statements.ts';

export type Database = InstanceType<ReturnType<typeof sqlite>['DatabaseSync']>;

export interface StateFileOptions {
  /** The state folder; created if it is missing. */
  readonly folder: string;
  readonly clock: Clock;
}

/** Identifies files of petstock: `psst` in ASCII. */
const applicationId = 0x70737374;
/** How long one attempt blocks while another process writes, in milliseconds; and how long to try again. */
const busy = { blocks: 100, until: 10_000 };

const pauses: readonly number[] = Array(busy.until / busy.blocks).fill(1);

/** A hint: a POSIX shell command that makes petstock use a state folder on a local disk. It moves no files. */
const localFolder = 'export PETSTOCK_STATE_DIR="/var/tmp/petstock-$USER"';

/** The files that SQLite keeps beside a database. */
const companions = ['-wal', '-shm'];

export function stateFile(folder: string): string {
  return join(folder, 'state.db');
}

/** Reports whether a folder has a state, or can't be searched for one. */
export function mayHaveState(folder: string): boolean {
  try {
    accessSync(stateFile(folder));
    return true;
  } catch (error) {
    return !['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '');
  }
}

/** Returns the path of a lock. Locks are files of their own, because closing any descriptor of a file drops its locks. */
export function lockFile(folder: string, name: string): string {
  return join(folder, 'locks', `${name}.lock`);
}

/** Returns the size of a state in bytes, with what SQLite keeps beside it. */
export function sizeOf(file: string): number {
  const sizes = ['', ...companions].map((end) => statSync(file + end, { throwIfNoEntry: false })?.size ?? 0);
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Names the files of an open state: another name means that one was removed or replaced. */
export function identityOf(file: string): string {
  return ['', ...companions].map((end) => statSync(file + end, { throwIfNoEntry: false })?.ino ?? '').join();
}

/**
 * Opens the state of a folder; creates it if it is missing, and migrates that of 0.3.0.
 * @throws FailureError if the folder or the file can't be used; UnavailableError if another process locks the file for
 * too long
 */
export async function openStateFile(options: StateFileOptions): Promise<Database> {
  const { folder } = options;
  const hasOne = mayHaveState(folder);
  // In another folder, the history and limits of this one would be missing.
  const hint = hasOne ? undefined : otherFolderHint('state', folder);
  try {
    makePrivateFolder(folder);
    if (isOnNetwork(folder)) {
      throw new FailureError(`The state folder ${folder} is on a network file system, where locks can't be relied on`, {
        hint: localFolder,
      });
    }
    makePrivateFolder(join(folder, 'locks'));
    accessSync(folder, constants.W_OK | constants.X_OK);
    const file = stateFile(folder);
    if (!hasOne) await withOpeningLock(options, () => existsSync(file) || createState(folder));
    requirePrivateFile(file);
    const database = connect(file);
    try {
      await prepare(database, file, options);
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  } catch (error) {
    if (error instanceof FailureError && error.hint === undefined) throw error.with({ hint });
    const isOfSystem = (error as NodeJS.ErrnoException).syscall !== undefined;
    if (!isOfSystem) throw stateError(error, stateFile(folder));
    throw new FailureError(`The state folder ${folder} can't be used: ${fileErrorReason(error)}`, {
      hint,
      cause: error,
    });
  }
}

/** The numbers of NFS, SMB (three of them), 9P, Ceph, AFS, Lustre and FUSE. */
const remoteTypes = new Set([
  0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0x00c36400, 0x5346414f, 0x0bd00bd0, 0x65735546,
]);

/** Matches a share: `\\server\share` or `\\?\UNC\server\share`, but not `\\?\C:\` or `\\.\`. */
const share = /^[\\/]{2}(?:\?[\\/]UNC[\\/]|(?![?.][\\/]))/i;

/**
 * Reports whether a folder is probably on another machine, where SQLite's locks are not reliable. On Linux, the kind of
 * the file system decides; on Windows, the path. A folder about which this can't be found out counts as local.
 */
function isOnNetwork(folder: string): boolean {
  try {
    if (process.platform === 'win32') return share.test(realpathSync.native(folder));
    return process.platform === 'linux' && remoteTypes.has(statfsSync(folder).type);
  } catch {
    return false;
  }
}

/** Runs `work` while no other process creates or migrates the state of the folder. */
async function withOpeningLock<Result>({ folder }: StateFileOptions, work: () => Result): Promise<Result> {
  const file = lockFile(folder, 'open');
  createPrivateFile(file);
  const lock = await awaitLock(file, busy.until);
  try {
    return await work();
  } finally {
    lock.close();
  }
}

/**
 * Creates an empty file for this user only, unless it exists. An existing file is not opened, because closing it would
 * drop a lock that this process has on it.
 */
export function createPrivateFile(file: string): void {
  if (existsSync(file)) return;
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
}

/** Creates a state under another name first, so that a file without tables is never a new state. */
function createState(folder: string): void {
  const file = stateFile(folder);
  const made = `${file}.new`;
  for (const end of ['', ...companions]) rmSync(made + end, { force: true });
  createPrivateFile(made);
  const database = connect(made);
  try {
    // Free pages are given back to the system on request.
    database.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL');
    database.exec(
      `BEGIN; ${tables}; PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${schemaVersion}; COMMIT`,
    );
  } finally {
    database.close();
  }
  renameSync(made, file);
  // The name of a new file is durable only once its folder is synced.
  syncPath(folder);
}

function connect(file: string): Database {
  const database = new (engine().DatabaseSync)(file, { timeout: busy.blocks });
  // On macOS a sync that is not full leaves data in the disk's own cache. Elsewhere the setting has no effect. The size
  // of the cache is in KiB. In memory, temporary files need no disk.
  database.exec(
    'PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY',
  );
  return database;
}

function engine(): ReturnType<typeof sqlite> {
  try {
    return sqlite();
  } catch (cause) {
    throw new FailureError(
      `SQLite can't be loaded on Node ${process.versions.node} (${(cause as Error).message}). Use Node 22.18 or later`,
      { cause },
    );
  }
}

/** Checks that a file is a state of this version; migrates that of 0.3.0. */
async function prepare(database: Database, file: string, options: StateFileOptions): Promise<void> {
  const version = versionOf(database, file);
  if (version === schemaVersion) return;
  if (version !== schemaOf030) throw otherVersion(file, version, `mv ${shellWord(file)} ${shellWord(`${file}.old`)}`);
  await withOpeningLock(options, async () => {
    // Another process may have migrated it first.
    if (versionOf(database, file) === schemaOf030) await migrate(database, options);
  });
}

async function migrate(database: Database, options: StateFileOptions): Promise<void> {
  const { folder, clock } = options;
  const { migrateSchema } = await import('./state-of-030.ts');
  database.exec('BEGIN IMMEDIATE');
  try {
    // A process of 0.3.0 is present for 15 s at a time.
    const present = database.prepare('SELECT 1 FROM presence WHERE expires > ? AND expires <= ?');
    if (present.get(clock.monotonic(), clock.monotonic() + 15_000) !== undefined) {
      throw new UnavailableError(`petstock 0.3.0 is using the state in ${folder}. Try again when it has ended`);
    }
    requireNoOpenCount(database, folder);
    await migrateSchema(async (sql, values = []) => database.prepare(sql).all(...values) as Answer[], clock.now());
    database.exec(`PRAGMA user_version = ${schemaVersion}; COMMIT`);
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
  database.prepare('PRAGMA incremental_vacuum').all();
  for (const name of readdirSync(folder)) if (notesOf030.test(name)) rmSync(join(folder, name), { force: true });
}

/** In 0.3.0 a stock count was a session in the state. */
function requireNoOpenCount(database: Database, folder: string): void {
  const has = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'counts'").get() !== undefined;
  if (!has || database.prepare('SELECT 1 FROM counts WHERE ended IS NULL').get() === undefined) return;
  throw new OtherVersionError(
    `The state in ${folder} has an open count of petstock 0.3.0. Finish or discard it with that version first`,
  );
}

/** Files that 0.3.0 kept beside its state. */
const notesOf030 = /^(begun-contents.*|(current|highest|leaving)-[\w-]+|(gate|told)-.+\.json|gates\.lock)$/;

function versionOf(database: Database, file: string): number {
  const pragma = (name: string) => Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
  if (pragma('application_id') === applicationId) return pragma('user_version');
  if (database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined) {
    throw damaged(file, 'it was emptied or truncated');
  }
  throw new FailureError(`${file} is not a petstock state`, {
    hint: otherFolderHint('state', dirname(file)),
  });
}

/** Runs `work`, and again while another process writes to the file. @throws stateError */
export async function untilFree<Result>(file: string, clock: Clock, work: () => Result): Promise<Result> {
  try {
    return await retryBusy(work, pauses, (ms) => clock.sleep(ms), isBusy);
  } catch (error) {
    throw stateError(error, file);
  }
}

/** SQLite's extended error code for a file that ends too early. */
const shortRead = 522;

/** Converts an error of SQLite to one of petstock; returns any other error unchanged. */
function stateError(error: unknown, file: string): unknown {
  const code = sqliteCodeOf(error);
  if (code === undefined) return error;
  const { message, errcode } = error as Error & { readonly errcode?: unknown };
  if (isBusy(error)) {
    return new UnavailableError(`The state in ${file} has been locked for too long by another process`, {
      hint: 'petstock state info',
      cause: error,
    });
  }
  const isDamaged = code === sqliteCodes.corrupt || code === sqliteCodes.notADatabase || errcode === shortRead;
  if (isDamaged) return damaged(file, message, error);
  return new FailureError(`The state in ${file} can't be read or written (${message})`, { cause: error });
}

function damaged(file: string, why: string, cause?: unknown): FailureError {
  return new FailureError(
    `The state in ${file} is damaged (${why}). Without it, unfinished runs can't be resumed, and files of deltas that were already applied are not recognized`,
    { hint: `mv ${shellWord(file)} ${shellWord(`${file}.damaged`)}`, cause },
  );
}
