import { existsSync } from 'node:fs';
import type { Clock } from '../../shared/clock.ts';
import { FailureError } from '../../shared/errors.ts';
import { makePrivateFolder, requirePrivateFile } from '../../shared/private-files.ts';
import { shellWord } from '../../shared/where.ts';
import { otherFolderHint } from '../other-folder.ts';
import { Connection, inodeOf } from './connection.ts';
import { type Engine, loadEngine } from './engine.ts';
import { isOnNetwork } from './network-folder.ts';
import { isEmpty, isState, makeTables } from './schema.ts';
import { isDamage, originOf } from './sqlite-errors.ts';
import { createStateFile, fileSystemOf, moveAside, requireLocal, requireWritable, stateFile } from './state-file.ts';

export interface OpenFileOptions {
  /** The command only looks: a damaged state is an error, and nothing is begun anew. */
  readonly looks?: boolean | undefined;
  readonly clock: Clock;
  /** Takes a sentence for stderr: a damaged state that was moved aside, a folder that can't be used. */
  warn(line: string): void;
}

/** Questions of the state to the system, for tests to look at or replace. */
export interface StateSystem {
  loadEngine(): Promise<Engine>;
  /** Puts the names of a folder on disk. */
  syncFolder(folder: string): Promise<void>;
  /** The kind of a file system, as `statfs` says it. */
  fileSystemOf(folder: string): number;
  /** Whether a folder is on another machine, where `statfs` does not say. */
  isOnNetwork(folder: string): Promise<boolean>;
}

export const realSystem: StateSystem = {
  loadEngine: () => loadEngine(),
  syncFolder: async (folder) => (await import('../../shared/atomic-file.ts')).syncFolder(folder),
  fileSystemOf,
  isOnNetwork,
};

/**
 * Opens the `state.db` of a folder, which is made if it is missing.
 * @throws UnusableFolder, the errors of SQLite and of `node:fs`
 */
export async function connectIn(folder: string, options: OpenFileOptions, system: StateSystem): Promise<Connection> {
  try {
    makePrivateFolder(folder);
  } catch (error) {
    throw new UnusableFolder((error as Error).message);
  }
  requireLocal(folder, system.fileSystemOf(folder), await system.isOnNetwork(folder));
  requirePrivateFile(stateFile(folder));
  requireWritable(folder);
  return connect(folder, options, system);
}

async function connect(folder: string, options: OpenFileOptions, system: StateSystem): Promise<Connection> {
  const engine = await system.loadEngine();
  const file = stateFile(folder);
  let isNew = !existsSync(file);
  // Nothing is waited for until it has tables: others wait for those no longer than they must.
  if (isNew) createStateFile(file);
  const inode = inodeOf(file);
  let connection: Connection;
  try {
    connection = await openFile(folder, engine, options, isNew);
  } catch (error) {
    const isEmptied = error instanceof EmptiedState;
    if (options.looks || !(isEmptied || isDamage(originOf(error)))) throw error;
    const time = new Date(options.clock.now()).toISOString().replace(/[-:]|\.\d+/g, '');
    const aside = moveAside(file, inode, time);
    if (aside !== undefined) {
      const what = isEmptied ? 'was emptied, or cut' : 'was damaged';
      options.warn(
        `The state in ${file} ${what}: it is now ${aside}, and a new one was begun. The history starts over`,
      );
    }
    if (!existsSync(file)) createStateFile(file);
    connection = await openFile(folder, engine, options, true);
    isNew = true;
  }
  // Its name lasts once the folder is on the disk too.
  if (isNew) await system.syncFolder(folder);
  return connection;
}

/** @param isNew whether it may be empty */
async function openFile(
  folder: string,
  engine: Engine,
  { clock }: OpenFileOptions,
  isNew: boolean,
): Promise<Connection> {
  const connection = new Connection(engine, stateFile(folder));
  try {
    if (!isState(connection))
      throw new FailureError(`${connection.file} is not a state of petstock`, { hint: otherFolderHint });
    // A state that was written has tables; one that another process is making has them in a moment.
    for (let waited = 0; !isNew && isEmpty(connection); waited += emptyPause) {
      if (waited >= maxEmptyWait) throw new EmptiedState(connection.file);
      await clock.sleep(emptyPause);
    }
    makeTables(connection);
    // In KiB. Rows that are removed are all over the indexes: with 2 MiB that took twice the CPU.
    connection.exec('PRAGMA cache_size = -16384');
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Milliseconds: between two looks at a file that is empty, and after which it was not just made. */
const emptyPause = 50;
const maxEmptyWait = 3000;

class EmptiedState extends FailureError {
  constructor(file: string) {
    super(`The state in ${file} is damaged: it was emptied, or cut`, {
      hint: `mv ${shellWord(file)} ${shellWord(`${file}.damaged`)}`,
    });
  }
}

/** Says why, in a sentence. */
export class UnusableFolder extends Error {}
