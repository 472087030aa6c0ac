import { existsSync } from 'node:fs';
import { FailureError, UnavailableError } from '../shared/errors.ts';
import { mayHaveState, stateFile } from './sqlite/engine.ts';
import { connectIn, type OpenFileOptions, type StateSystem, UnusableFolder } from './sqlite/open-file.ts';
import { sqliteState } from './sqlite/sqlite-state.ts';
import type { State, StateOptions } from './state.ts';
import { withoutHistory } from './state-database.ts';

export interface OpenStateOptions
  extends OpenFileOptions,
    Omit<StateOptions, 'warn' | 'refusal' | 'isFallback' | 'elsewhere'> {
  /** The state folder; created if it is missing. If `url` is set, the folder holds the fallback state. */
  readonly folder: string;
  /**
   * The effect to report if the state folder can't be used. If it is undefined and the command needs no history, limits
   * are kept in the first usable runtime folder instead.
   */
  readonly notDone?: string | undefined;
}

/**
 * Opens this machine's state (`state.db` in the state folder), or the shared one; creates it if it is missing.
 * @throws FailureError if the state can't be used; UnavailableError if another process locks it for too long, or if the
 * shared one can't be reached and the command needs the history; UsageError for an invalid URL of the shared one
 */
export async function openState(options: OpenStateOptions, system?: StateSystem): Promise<State> {
  if (options.url !== undefined) return openShared(options, options.url, system);
  const { folder, runtimeFolders = [], need, warn } = options;
  const notDone = need === 'history' ? 'Nothing was sent' : options.notDone;
  try {
    return await openIn(folder, options, system);
  } catch (error) {
    if (!(error instanceof UnusableFolder)) throw error;
    const { message: refusal } = error;
    if (notDone !== undefined) throw error.with({ message: `${refusal}. ${notDone}` });
    let last = error;
    for (const runtime of runtimeFolders) {
      try {
        const state = await openIn(runtime, { ...options, refusal }, system);
        warn(`${refusal}. The known rate limits are kept in ${runtime} until this computer restarts`);
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
 * Like `openState`, for commands that only read. Does not create a missing state.
 * @returns undefined if there is no state
 */
export async function openExistingState(options: OpenStateOptions, system?: StateSystem): Promise<State | undefined> {
  const { folder, runtimeFolders = [], need, url } = options;
  if (url !== undefined) {
    const { openExistingPostgres } = await import('./postgres/open-postgres.ts');
    return openExistingPostgres({ ...options, url });
  }
  if (mayHaveState(folder)) return openState({ ...options, readOnly: true }, system);
  const runtime = runtimeFolders.find((each) => existsSync(stateFile(each)));
  if (need === 'history' || runtime === undefined) return undefined;
  return openIn(runtime, { ...options, refusal: `${folder} has no state` }, system);
}

/**
 * Opens the shared state. If it can't be reached, a command that needs the history fails, because the history would
 * lack its writes. Any other command continues with the limits that this machine knows.
 */
async function openShared(options: OpenStateOptions, url: string, system: StateSystem | undefined): Promise<State> {
  const { openPostgres } = await import('./postgres/open-postgres.ts');
  const { folder, need, warn } = options;
  try {
    return await openPostgres({ ...options, url });
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    if (need === 'history') throw error.with({ message: `${error.message}. ${withoutHistory}` });
    const fallback = { ...options, refusal: error.message, isFallback: true };
    const state = await openIn(folder, fallback, system);
    warn(`${error.message}. This command uses only the rate limits known on this machine`);
    return state;
  }
}

/** Options for a state in any folder; `refusal`, if set, explains why nothing may be written with it. */
type OpenOptions = OpenStateOptions & Pick<StateOptions, 'refusal' | 'isFallback'>;

async function openIn(folder: string, options: OpenOptions, system?: StateSystem): Promise<State> {
  const elsewhere: StateOptions['elsewhere'] = async (use) => {
    const state = await openExistingState(options, system);
    return state && use(state.history).finally(() => state.close());
  };
  return sqliteState(await connectIn(folder, options, system), { ...options, elsewhere });
}
