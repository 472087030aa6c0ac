import { existsSync } from 'node:fs';
import { FailureError, UnavailableError } from '../shared/errors.ts';
import { stateFile } from './sqlite/engine.ts';
import { connectIn, type OpenFileOptions, type StateSystem, UnusableFolder } from './sqlite/open-file.ts';
import { sqliteState } from './sqlite/sqlite-state.ts';
import type { State, StateOptions } from './state.ts';

export interface OpenStateOptions
  extends OpenFileOptions,
    Omit<StateOptions, 'warn' | 'refusal' | 'isFallback' | 'reopen'> {
  /** The state folder; made where it is missing. With `url` it is used only where that can't be reached. */
  readonly folder: string;
  /** Limits move to the first of the runtime folders that can be used if the state folder can't. */
  readonly movesLimits?: boolean | undefined;
}

/**
 * The state of this machine: `state.db` in the state folder; or the one that it shares with others.
 *
 * @throws FailureError where it can't be used, and a hint that names `PETSTOCK_STATE_DIR`; UnavailableError where another
 *   process holds it for longer than 30 s
 */
export async function openState(options: OpenStateOptions, system?: StateSystem): Promise<State> {
  if (options.url !== undefined) return openShared(options, options.url, system);
  const { folder, runtimeFolders = [], movesLimits, need, warn } = options;
  try {
    return await openIn(folder, options, system);
  } catch (error) {
    if (!(error instanceof UnusableFolder)) throw error;
    const { message: refusal } = error;
    if (need === 'history') throw error.with({ message: `${refusal}: nothing was sent` });
    let last = error;
    for (const runtime of movesLimits ? runtimeFolders : []) {
      try {
        const state = await openIn(runtime, { ...options, refusal }, system);
        warn(`${refusal}: what is known of the rate limit is kept in ${runtime} until the next restart`);
        return state;
      } catch (failure) {
        if (!(failure instanceof FailureError)) throw failure;
        last = failure.with({ message: `${refusal}. ${failure.message}` });
      }
    }
    throw last;
  }
}

/**
 * The same for commands that only look.
 * @returns undefined if there is no state; makes nothing then
 */
export async function openExistingState(options: OpenStateOptions, system?: StateSystem): Promise<State | undefined> {
  const { folder, runtimeFolders = [], need, url } = options;
  if (url !== undefined) {
    const { openExistingPostgres } = await import('./postgres/open-postgres.ts');
    return openExistingPostgres({ ...options, url });
  }
  if (existsSync(stateFile(folder))) return openState({ ...options, readOnly: true }, system);
  const runtime = runtimeFolders.find((each) => existsSync(stateFile(each)));
  if (need === 'history' || runtime === undefined) return undefined;
  return openIn(runtime, { ...options, refusal: `${folder} has no state` }, system);
}

/**
 * Without the shared state nothing is written, since the history would lack it. Commands that only read go on with what this
 * machine knows of the limits.
 */
async function openShared(options: OpenStateOptions, url: string, system: StateSystem | undefined): Promise<State> {
  const { openPostgres } = await import('./postgres/open-postgres.ts');
  const { folder, need, warn } = options;
  try {
    return await openPostgres({ ...options, url });
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    if (need === 'history')
      throw error.with({ message: `${error.message}; without a history nothing is written, so nothing was sent` });
    const fallback = { ...options, refusal: error.message, isFallback: true };
    const state = await openIn(folder, fallback, system);
    warn(`${error.message}: this command goes by what this machine alone knows of the rate limit`);
    return state;
  }
}

/** The options of a state in the runtime folder say why nothing may be written by it. */
type OpenOptions = OpenStateOptions & Pick<StateOptions, 'refusal' | 'isFallback'>;

async function openIn(folder: string, options: OpenOptions, system?: StateSystem): Promise<State> {
  const reopen = () => openExistingState(options, system);
  return sqliteState(await connectIn(folder, options, system), { ...options, reopen });
}
