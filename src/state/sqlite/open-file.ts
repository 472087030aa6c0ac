import { accessSync, closeSync, constants, existsSync, openSync, renameSync, rmSync } from 'node:fs';
import type { Clock } from '../../shared/clock.ts';
import { FailureError } from '../../shared/errors.ts';
import { fileErrorReason } from '../../shared/file-error.ts';
import { makePrivateFolder, requirePrivateFile } from '../../shared/private-files.ts';
import { localFolderHint, otherFolderHint } from '../state-database.ts';
import { lostAside } from '../tables.ts';
import { companions, DamagedState, inodeOf, SqliteConnection, unusableBy } from './connection.ts';
import { type Engine, loadEngine, stateFile } from './engine.ts';
import { isOnNetwork } from './network-folder.ts';
import { contentOf, makeTables } from './schema.ts';

export interface OpenFileOptions {
  /** The command only looks: a damaged state is an error, and nothing is begun anew. */
  readonly readOnly?: boolean | undefined;
  /** `limits`: the command writes nothing, so without a usable folder the limits move to the runtime folder. */
  readonly need: 'limits' | 'history';
  readonly clock: Clock;
  /** Takes a sentence for stderr: a damaged state that was moved aside, a folder that can't be used. */
  warn(line: string): void;
}

/** Questions of the state to the system, for tests to look at or replace. */
const realSystem = {
  loadEngine: () => loadEngine(),
  /** Puts the names of a folder on disk. */
  syncFolder: async (folder: string) => (await import('../../shared/atomic-file.ts')).syncPath(folder),
  isOnNetwork: (folder: string) => isOnNetwork(folder),
};
export type StateSystem = typeof realSystem;

/** Another folder could be used. */
export class UnusableFolder extends FailureError {}

/**
 * Opens the `state.db` of a folder, which is made if it is missing.
 * @throws UnusableFolder; FailureError if another folder would not help; UnavailableError if another process holds it for too long
 */
export async function connectIn(
  folder: string,
  options: OpenFileOptions,
  system = realSystem,
): Promise<SqliteConnection> {
  try {
    makePrivateFolder(folder);
  } catch (cause) {
    throw new UnusableFolder((cause as Error).message, { hint: otherFolderHint, cause });
  }
  if (await system.isOnNetwork(folder)) {
    throw new FailureError(`The state folder ${folder} is on a network file system, where locks can't be relied on`, {
      hint: localFolderHint,
    });
  }
  const file = stateFile(folder);
  requirePrivateFile(file);
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    if (existsSync(file)) accessSync(file, constants.R_OK | constants.W_OK);
    return await connect(folder, options, system);
  } catch (cause) {
    const isOfSystem = (cause as NodeJS.ErrnoException).syscall !== undefined;
    const reason = isOfSystem ? fileErrorReason(cause) : unusableBy(cause)?.message;
    if (reason === undefined) throw cause;
    throw new UnusableFolder(`The state folder ${folder} can't be used: ${reason}`, { hint: otherFolderHint, cause });
  }
}

async function connect(folder: string, options: OpenFileOptions, system: StateSystem): Promise<SqliteConnection> {
  const engine = await system.loadEngine();
  const file = stateFile(folder);
  let isNew = !existsSync(file) || existsSync(markOf(file));
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
    rmSync(markOf(file), { force: true });
    // Its name lasts once the folder is on the disk too.
    await system.syncFolder(folder);
  }
  return connection;
}

/** For this user alone; SQLite gives what it keeps beside it the same mode. */
function createFile(file: string): void {
  for (const path of [markOf(file), file]) closeSync(openSync(path, 'a', 0o600));
}

/** Returns the file that is there while a state is made: if its process is killed, a state without tables lacks nothing. */
const markOf = (file: string) => `${file}.new`;

/**
 * Moves a damaged state out of the way.
 * @param inode of the file that was found damaged: another process may have begun a new one since
 * @returns its new path; undefined if another one has its name by now
 */
function moveAside(file: string, inode: bigint | undefined, clock: Clock): string | undefined {
  if (inode === undefined || inodeOf(file) !== inode) return undefined;
  const time = new Date(clock.now()).toISOString().replace(/[-:]|\.\d+/g, '');
  const aside = `${file}.damaged-${time}`;
  for (const suffix of ['', ...companions]) if (existsSync(file + suffix)) renameSync(file + suffix, aside + suffix);
  return aside;
}

/** Milliseconds: between two looks at a file that is empty, and after which it was not just made. */
const emptyPause = 50;
const maxEmptyWait = 3000;

async function openFile(file: string, engine: Engine, { clock, need }: OpenFileOptions): Promise<SqliteConnection> {
  const connection = new SqliteConnection(engine, file);
  try {
    if (contentOf(connection) === 'something else')
      throw new FailureError(`${file} is not a state of petstock`, { hint: otherFolderHint });
    // A state that was written has tables; one that another process has just made may have lost its mark between two looks.
    for (let waited = 0; contentOf(connection) === 'nothing' && !existsSync(markOf(file)); waited += emptyPause) {
      if (waited >= maxEmptyWait) throw new DamagedState(file, 'it was emptied, or cut');
      await clock.sleep(emptyPause);
    }
    makeTables(connection, clock);
    // A full disk shows itself only when something is written.
    if (need === 'limits') connection.quick(() => connection.run('UPDATE sequence SET last = last'));
    // In KiB. Rows that are removed are all over the indexes: with 2 MiB that took twice the CPU.
    connection.exec('PRAGMA cache_size = -16384');
    // What a statement may have to take back is kept in memory: as a file it is a quarter of what a large run writes.
    connection.exec('PRAGMA temp_store = MEMORY');
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}
