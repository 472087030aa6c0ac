import { existsSync } from 'node:fs';
import { runtimeFolders } from '../../settings/folders.ts';
import { resolveSetting, settingOf } from '../../settings/settings.ts';
import type { Sourced } from '../../settings/variables.ts';
import { userOf } from '../../shared/account.ts';
import type { OpenStateOptions } from '../../state/open-state.ts';
import type { SqliteConnection } from '../../state/sqlite/connection.ts';
import type { State } from '../../state/state.ts';
import type { Context } from '../context.ts';
import type { ResolvedTarget } from './globals.ts';
import type { Messages } from './messages.ts';

/** The parts of an invocation that say which state it opens. */
interface StateUse extends Omit<ResolvedTarget, 'store'> {
  readonly context: Context;
  readonly messages: Messages;
  /** The name that other processes are shown: `history list`. */
  readonly command: string;
}
type Need = OpenStateOptions['need'];

/**
 * Opens the state for a command that only looks, and closes it afterwards.
 * @param look is given undefined if there is no state yet
 * @param options `need`: `limits` finds what is kept in the runtime folder, too; `isOwn`: that of this machine, even if one is shared
 * @throws FailureError if it can't be used
 */
export async function withExistingState<T>(
  use: StateUse,
  look: (state: State | undefined) => Promise<T>,
  { need = 'history', isOwn = false }: { readonly need?: Need; readonly isOwn?: boolean } = {},
): Promise<T> {
  const { openExistingState } = await import('../../state/open-state.ts');
  const { url, ...options } = stateOptions(use, need);
  const state = await openExistingState({ ...options, ...(url !== undefined && !isOwn && { url }) });
  try {
    return await look(state);
  } finally {
    await state?.close();
  }
}

/** Looks at tables of the state of this machine that are no part of a state; undefined if there is no state yet. */
export async function readLocalTables<T>(
  use: StateUse,
  look: (connection: SqliteConnection) => T,
): Promise<T | undefined> {
  const { stateFile } = await import('../../state/sqlite/engine.ts');
  if (!existsSync(stateFile(use.context.folders.state))) return undefined;
  return withLocalTables(use, look, { readOnly: true });
}

/** Does `work` on such tables. The state is made if it is missing, unless `work` only looks. */
export async function withLocalTables<T>(
  use: StateUse,
  work: (connection: SqliteConnection) => T | Promise<T>,
  { readOnly } = { readOnly: false },
): Promise<T> {
  const { connectIn } = await import('../../state/sqlite/open-file.ts');
  const options = stateOptions(use, 'history');
  const connection = await connectIn(options.folder, { ...options, readOnly });
  try {
    return await work(connection);
  } finally {
    connection.close();
  }
}

/** Returns the URL of the state that several machines share, if there is one. The sandbox is on this machine, and so is its state. */
export function sharedStateOf({ context, config, environment }: StateUse): Sourced<string> | undefined {
  return environment.value === 'sandbox' ? undefined : resolveSetting('state-url', context.env, config.settings);
}

export function stateOptions(use: StateUse, need: Need): OpenStateOptions {
  const { context, messages, command } = use;
  const { settings } = use.config;
  const keepFor = settings['keep-history'];
  const { clock, processes, random, folders, env, interrupted } = context;
  const url = sharedStateOf(use)?.value;
  return {
    ...{ need, clock, processes, random, command, interrupted },
    folder: folders.state,
    runtimeFolders: runtimeFolders(env),
    movesLimits: true,
    ...(url !== undefined && { url, user: userOf(env) }),
    outageTimeout: (settingOf(settings, 'state-patience') ?? 60) * 1000,
    ...(keepFor !== undefined && { keepFor: keepFor * 86_400_000 }),
    warn: (line) => void messages.warn(line),
  };
}
