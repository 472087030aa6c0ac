import { existsSync } from 'node:fs';
import type { Clock } from '../shared/clock.ts';
import { FailureError, UnavailableError } from '../shared/errors.ts';
import { fileErrorReason } from '../shared/file-error.ts';
import { makePrivateFolder, requirePrivateFile } from '../shared/private-files.ts';
import type { Processes } from '../shared/processes.ts';
import { shellWord } from '../shared/where.ts';
import { otherFolderHint } from './other-folder.ts';
import { Connection, inodeOf } from './sqlite/connection.ts';
import { type Engine, loadEngine } from './sqlite/engine.ts';
import { isOnNetwork } from './sqlite/network-folder.ts';
import { isEmpty, isState, migrate } from './sqlite/schema.ts';
import { isDamage, isUnusable, originOf } from './sqlite/sqlite-errors.ts';
import { sqliteState } from './sqlite/sqlite-state.ts';
import {
  createStateFile,
  fileSystemOf,
  moveAside,
  requireLocal,
  requireWritable,
  stateFile,
} from './sqlite/state-file.ts';
import type { State } from './state.ts';
import type { StoredStateOptions } from './stored-state.ts';

export interface OpenStateOptions {
  /** The state folder; made where it is missing. */
  readonly folder: string;
  /** Where limits go when the state folder can't be used: `$XDG_RUNTIME_DIR/petstock`, or a private folder below the temporary one. */
  readonly runtimeFolder?: string | undefined;
  /** `limits`: the command writes nothing, so without a usable folder the limits move to the runtime folder. */
  readonly need: 'limits' | 'history';
  /** The command only looks: a damaged state is an error, and nothing is begun anew. */
  readonly looks?: boolean | undefined;
  readonly clock: Clock;
  readonly processes: Processes;
  /** A number in [0, 1). */
  random(): number;
  /** What this process runs, for others: `inventory apply`. */
  readonly command: string;
  /** `postgresql://…`: the state that several machines share; `folder` is used only where that can't be reached. */
  readonly url?: string | undefined;
  /** Who runs this process, for others that share the state. */
  readonly user?: string | undefined;
  /** How long a run that sends nothing meanwhile waits for a shared state that is away, in milliseconds; default 5 s. */
  readonly patience?: number | undefined;
  /** How long runs are kept, in milliseconds; undefined: for ever. */
  readonly keepFor?: number | undefined;
  /** Takes a sentence for stderr: a damaged state that was moved aside, a folder that can't be used. */
  warn(line: string): void;
}

/** What the state asks of the system, for tests to look at or replace. */
export interface StateSystem {
  loadEngine(): Promise<Engine>;
  /** Puts the names of a folder on disk. */
  syncFolder(folder: string): Promise<void>;
  /** The kind of a file system, as `statfs` says it. */
  fileSystemOf(folder: string): number;
  /** Whether a folder is on another machine, where `statfs` does not say. */
  isOnNetwork(folder: string): Promise<boolean>;
}

const realSystem: StateSystem = {
  loadEngine: () => loadEngine(),
  syncFolder: async (folder) => (await import('../shared/atomic-file.ts')).syncFolder(folder),
  fileSystemOf,
  isOnNetwork,
};

/**
 * The state of this machine: `state.db` in the state folder; or the one that it shares with others.
 *
 * @throws FailureError where it can't be used, and a hint that names `PETSTOCK_STATE_DIR`; UnavailableError where another
 *   process holds it for longer than 10 s
 */
export async function openState(options: OpenStateOptions, system: StateSystem = realSystem): Promise<State> {
  if (options.url !== undefined) return openShared(options, options.url, system);
  const engine = await system.loadEngine();
  const { folder, runtimeFolder, need, warn } = options;
  try {
    return await openIn(folder, engine, options, system);
  } catch (error) {
    const reason = folderFault(folder, error);
    if (reason === undefined) throw error;
    if (need === 'history')
      throw new FailureError(`${reason}: nothing was sent`, { hint: otherFolderHint, cause: error });
    if (runtimeFolder === undefined) throw new FailureError(reason, { hint: otherFolderHint, cause: error });
    const state = await openInstead(runtimeFolder, engine, { ...options, refusal: reason }, system);
    warn(`${reason}: what is known of the rate limit is kept in ${runtimeFolder} until the next restart`);
    return state;
  }
}

/**
 * The same for commands that only look.
 * @returns undefined if there is no state; makes nothing then
 */
export async function openExistingState(
  options: OpenStateOptions,
  system: StateSystem = realSystem,
): Promise<State | undefined> {
  const { folder, runtimeFolder, need, url } = options;
  if (url !== undefined) {
    const { openExistingPostgres } = await import('./postgres/open-postgres.ts');
    return openExistingPostgres({ ...options, url });
  }
  if (existsSync(stateFile(folder))) return openState({ ...options, looks: true }, system);
  if (need === 'history' || runtimeFolder === undefined || !existsSync(stateFile(runtimeFolder))) return undefined;
  return openIn(runtimeFolder, await system.loadEngine(), { ...options, refusal: `${folder} has no state` }, system);
}

/**
 * Without the shared state nothing is written, since the history would lack it. Commands that only read go on with what this
 * machine knows of the limits.
 */
async function openShared(options: OpenStateOptions, url: string, system: StateSystem): Promise<State> {
  const { openPostgres } = await import('./postgres/open-postgres.ts');
  const { folder, need, warn } = options;
  try {
    return await openPostgres({ ...options, url });
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    if (need === 'history')
      throw error.with({ message: `${error.message}; without a history nothing is written, so nothing was sent` });
    const standIn = { ...options, refusal: error.message, isStandIn: true };
    const state = await openIn(folder, await system.loadEngine(), standIn, system);
    warn(`${error.message}: this command goes by what this machine alone knows of the rate limit`);
    return state;
  }
}

/** The options of a state in the runtime folder say why nothing may be written by it. */
type OpenOptions = OpenStateOptions & Pick<StoredStateOptions, 'refusal' | 'isStandIn'>;

async function openInstead(
  runtimeFolder: string,
  engine: Engine,
  options: OpenOptions,
  system: StateSystem,
): Promise<State> {
  try {
    return await openIn(runtimeFolder, engine, options, system);
  } catch (error) {
    const fault = folderFault(runtimeFolder, error);
    if (fault === undefined) throw error;
    throw new FailureError(`${options.refusal}. ${fault}`, { hint: otherFolderHint, cause: error });
  }
}

async function openIn(folder: string, engine: Engine, options: OpenOptions, system: StateSystem): Promise<State> {
  const connection = await connectIn(folder, engine, options, system);
  if (options.need === 'limits') probe(connection);
  return sqliteState(connection, options);
}

/**
 * Opens the `state.db` of this machine, whatever `url` names, for tables that are never shared.
 * @throws what `openState` throws
 */
export async function openLocalConnection(
  options: OpenStateOptions,
  system: StateSystem = realSystem,
): Promise<Connection> {
  const { folder } = options;
  try {
    return await connectIn(folder, await system.loadEngine(), options, system);
  } catch (error) {
    const reason = folderFault(folder, error);
    if (reason === undefined) throw error;
    throw new FailureError(reason, { hint: otherFolderHint, cause: error });
  }
}

async function connectIn(
  folder: string,
  engine: Engine,
  options: OpenStateOptions,
  system: StateSystem,
): Promise<Connection> {
  try {
    makePrivateFolder(folder);
  } catch (error) {
    throw new UnusableFolder((error as Error).message);
  }
  requireLocal(folder, system.fileSystemOf(folder), await system.isOnNetwork(folder));
  requirePrivateFile(stateFile(folder));
  requireWritable(folder);
  return connect(folder, engine, options, system);
}

/** A full disk shows itself only when something is written. */
function probe(connection: Connection): void {
  try {
    connection.quick(() => connection.run('UPDATE sequence SET last = last'));
  } catch (error) {
    connection.close();
    throw error;
  }
}

async function connect(
  folder: string,
  engine: Engine,
  options: OpenStateOptions,
  system: StateSystem,
): Promise<Connection> {
  const file = stateFile(folder);
  const isNew = !existsSync(file);
  if (isNew) await createStateFile(file, system.syncFolder);
  const inode = inodeOf(file);
  try {
    return await openFile(folder, engine, options, isNew);
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
    if (!existsSync(file)) await createStateFile(file, system.syncFolder);
    return openFile(folder, engine, options, true);
  }
}

/** @param isNew whether it may be empty */
async function openFile(
  folder: string,
  engine: Engine,
  { clock }: OpenStateOptions,
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
    migrate(connection);
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

/** The maker of folders says why, in a sentence. */
class UnusableFolder extends Error {}

/** @returns what is wrong with a folder, a sentence; undefined where another one would not help, as against a defect */
function folderFault(folder: string, error: unknown): string | undefined {
  if (error instanceof UnusableFolder) return error.message;
  const origin = originOf(error);
  // Another folder would not help: the file ends too early.
  if (isDamage(origin)) return undefined;
  const isOfSystem = (origin as NodeJS.ErrnoException).syscall !== undefined;
  if (!isOfSystem && !isUnusable(origin)) return undefined;
  return `The state folder ${folder} can't be used: ${isOfSystem ? fileErrorReason(origin) : (origin as Error).message}`;
}
