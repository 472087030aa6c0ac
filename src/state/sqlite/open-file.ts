import { accessSync, closeSync, constants, existsSync, openSync, renameSync, rmSync } from 'node:fs';
import type { Clock } from '../../shared/clock.ts';
import { FailureError } from '../../shared/errors.ts';
import { fileErrorReason } from '../../shared/file-error.ts';
import { makePrivateFolder, requirePrivateFile } from '../../shared/private-files.ts';
import { localFolderHint, otherFolderHint } from '../state-database.ts';
import { lostAside } from '../tables.ts';
import { companions, DamagedState, inodeOf, SqliteConnection, unusableBy } from './connection.ts';
import { type Engine, loadEngine, mayHaveState, stateFile } from './engine.ts';
import { isOnNetwork } from './network-folder.ts';
import { contentOf, makeTables } from './schema.ts';

export interface OpenFileOptions {
  /** Whether the command only reads. If so, a damaged state is an error, and is not replaced by a new one. */
  readonly readOnly?: boolean | undefined;
  /** `limits`: the command needs no history, so it can continue with limits that are kept in another folder. */
  readonly need: 'limits' | 'history';
  readonly clock: Clock;
  /** Prints a line on stderr. */
  warn(line: string): void;
}

/** Calls to the operating system; tests observe or replace them. */
const realSystem = {
  loadEngine: () => loadEngine(),
  /** Syncs a folder, so that the names in it are on disk. */
  syncFolder: async (folder: string) => (await import('../../shared/atomic-file.ts')).syncPath(folder),
  isOnNetwork: (folder: string) => isOnNetwork(folder),
};
export type StateSystem = typeof realSystem;

/** Thrown if a folder can't be used, and another one might work. */
export class UnusableFolder extends FailureError {}

/**
 * Opens the `state.db` of a folder; creates it if it is missing, and replaces a damaged one unless `readOnly` is set.
 * @throws UnusableFolder if the folder or file can't be opened, read or written; UnavailableError if another process
 * locks the file for too long; FailureError otherwise
 */
export async function connectIn(
  folder: string,
  options: OpenFileOptions,
  system = realSystem,
): Promise<SqliteConnection> {
  // In another folder, the history and limits of this one would be missing.
  const hint = mayHaveState(folder) ? undefined : otherFolderHint;
  try {
    makePrivateFolder(folder);
  } catch (cause) {
    throw new UnusableFolder((cause as Error).message, { hint, cause });
  }
  if (await system.isOnNetwork(folder)) {
    throw new FailureError(`The state folder ${folder} is on a network file system, where locks can't be relied on`, {
      hint: localFolderHint,
    });
  }
  const file = stateFile(folder);
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    requirePrivateFile(file);
    if (existsSync(file)) accessSync(file, constants.R_OK | constants.W_OK);
    return await connect(folder, options, system);
  } catch (cause) {
    const isOfSystem = (cause as NodeJS.ErrnoException).syscall !== undefined;
    const reason = isOfSystem ? fileErrorReason(cause) : unusableBy(cause)?.message;
    if (reason === undefined) throw cause;
    throw new UnusableFolder(`The state folder ${folder} can't be used: ${reason}`, { hint, cause });
  }
}

async function connect(folder: string, options: OpenFileOptions, system: StateSystem): Promise<SqliteConnection> {
  const engine = await system.loadEngine();
  const file = stateFile(folder);
  let isNew = !existsSync(file) || existsSync(markerOf(file));
  if (isNew) createFile(file);
  const inode = inodeOf(file);
  let connection: SqliteConnection;
  try {
    connection = await openFile(file, engine, options);
  } catch (error) {
    if (options.readOnly || !(error instanceof DamagedState)) throw error;
    const aside = moveAside(file, inode, options.clock);
    if (aside !== undefined)
      options.warn(
        `${error.message}. It was moved to ${aside}, and a new, empty one was created: the history starts over. ${lostAside}`,
      );
    if (!existsSync(file)) createFile(file);
    connection = await openFile(file, engine, options);
    isNew = true;
  }
  if (isNew) {
    rmSync(markerOf(file), { force: true });
    // A new file's name is durable only once its folder is synced.
    await system.syncFolder(folder);
  }
  return connection;
}

/** Creates the file and its marker for this user only; SQLite gives its companion files the same mode. */
function createFile(file: string): void {
  for (const path of [markerOf(file), file]) closeSync(openSync(path, 'a', 0o600));
}

/**
 * Returns the path of a file that exists while a state is being created. If it is beside a state without tables, that
 * state has lost nothing: it is still being created, or the process that created it was killed.
 */
const markerOf = (file: string) => `${file}.new`;

/**
 * Moves a damaged state aside.
 * @param inode the inode of the damaged file: another process may have created a new one since
 * @returns its new path; undefined if the file was replaced meanwhile
 */
function moveAside(file: string, inode: bigint | undefined, clock: Clock): string | undefined {
  if (inode === undefined || inodeOf(file) !== inode) return undefined;
  const time = new Date(clock.now()).toISOString().replace(/[-:]|\.\d+/g, '');
  const aside = `${file}.damaged-${time}`;
  for (const suffix of ['', ...companions]) if (existsSync(file + suffix)) renameSync(file + suffix, aside + suffix);
  return aside;
}

/** Pause between two checks of an empty file, and the time after which it can't be a new one, in milliseconds. */
const emptyPause = 50;
const maxEmptyWait = 3000;

async function openFile(file: string, engine: Engine, { clock, need }: OpenFileOptions): Promise<SqliteConnection> {
  const connection = new SqliteConnection(engine, file);
  try {
    if (contentOf(connection) === 'something else')
      throw new FailureError(`${file} is not a petstock state`, { hint: otherFolderHint });
    // A state that was ever written has tables. An empty one may just have been created by another process, which has
    // removed the marker between the two checks.
    for (let waited = 0; contentOf(connection) === 'nothing' && !existsSync(markerOf(file)); waited += emptyPause) {
      if (waited >= maxEmptyWait) throw new DamagedState(file, 'it was emptied or truncated');
      await clock.sleep(emptyPause);
    }
    makeTables(connection, clock);
    // A full disk is only noticed when something is written.
    if (need === 'limits') connection.quick(() => connection.run('UPDATE sequence SET last = last'));
    // The size is in KiB. Removed rows are spread over the indexes: with 2 MiB, removal took twice the CPU time.
    connection.exec('PRAGMA cache_size = -16384');
    // Keeps rollback data of a statement in memory. In a file, this data was a quarter of what a large run writes.
    connection.exec('PRAGMA temp_store = MEMORY');
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}
