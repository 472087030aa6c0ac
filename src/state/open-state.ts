import { existsSync } from 'node:fs';
import { FailureError, UnavailableError } from '../shared/errors.ts';
import { fileErrorReason } from '../shared/file-error.ts';
import { otherFolderHint } from './other-folder.ts';
import type { Connection } from './sqlite/connection.ts';
import { connectIn, type OpenFileOptions, realSystem, type StateSystem, UnusableFolder } from './sqlite/open-file.ts';
import { isDamage, isUnusable, originOf } from './sqlite/sqlite-errors.ts';
import { sqliteState } from './sqlite/sqlite-state.ts';
import { stateFile } from './sqlite/state-file.ts';
import type { State, StateOptions } from './state.ts';

export interface OpenStateOptions extends OpenFileOptions, Omit<StateOptions, 'warn' | 'refusal' | 'isStandIn'> {
  /** The state folder; made where it is missing. With `url` it is used only where that can't be reached. */
  readonly folder: string;
  /** Where limits go when the state folder can't be used: `$XDG_RUNTIME_DIR/petstock`, or a private folder below the temporary one. */
  readonly runtimeFolder?: string | undefined;
  /** `limits`: the command writes nothing, so without a usable folder the limits move to the runtime folder. */
  readonly need: 'limits' | 'history';
  /** How long a run that sends nothing meanwhile waits for a shared state that is away, in milliseconds; default 5 s. */
  readonly patience?: number | undefined;
}

/**
 * The state of this machine: `state.db` in the state folder; or the one that it shares with others.
 *
 * @throws FailureError where it can't be used, and a hint that names `PETSTOCK_STATE_DIR`; UnavailableError where another
 *   process holds it for longer than 30 s
 */
export async function openState(options: OpenStateOptions, system: StateSystem = realSystem): Promise<State> {
  if (options.url !== undefined) return openShared(options, options.url, system);
  const { folder, runtimeFolder, need, warn } = options;
  try {
    return await openIn(folder, options, system);
  } catch (error) {
    const reason = folderFault(folder, error);
    if (reason === undefined) throw error;
    if (need === 'history' || runtimeFolder === undefined) {
      const message = need === 'history' ? `${reason}: nothing was sent` : reason;
      throw new FailureError(message, { hint: otherFolderHint, cause: error });
    }
    const instead = openIn(runtimeFolder, { ...options, refusal: reason }, system);
    const state = await instead.catch(failOf(runtimeFolder, `${reason}. `));
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
  return openIn(runtimeFolder, { ...options, refusal: `${folder} has no state` }, system);
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
    const state = await openIn(folder, standIn, system);
    warn(`${error.message}: this command goes by what this machine alone knows of the rate limit`);
    return state;
  }
}

/** The options of a state in the runtime folder say why nothing may be written by it. */
type OpenOptions = OpenStateOptions & Pick<StateOptions, 'refusal' | 'isStandIn'>;

async function openIn(folder: string, options: OpenOptions, system: StateSystem): Promise<State> {
  const connection = await connectIn(folder, options, system);
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
  return connectIn(options.folder, options, system).catch(failOf(options.folder));
}

/** @param before a sentence that comes first. @returns what throws an error of a folder in words, and any other as it is */
function failOf(folder: string, before = ''): (error: unknown) => never {
  return (error) => {
    const fault = folderFault(folder, error);
    if (fault === undefined) throw error;
    throw new FailureError(`${before}${fault}`, { hint: otherFolderHint, cause: error });
  };
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
