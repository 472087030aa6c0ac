import { runtimeFolders } from '../../settings/folders.ts';
import { resolveSetting, settingOf } from '../../settings/settings.ts';
import type { Sourced } from '../../settings/variables.ts';
import { userOf } from '../../shared/account.ts';
import type { OpenStateOptions } from '../../state/open-state.ts';
import type { State } from '../../state/state.ts';
import type { Context } from '../context.ts';
import type { ResolvedTarget } from './globals.ts';
import type { Messages } from './messages.ts';

interface StateUse extends Omit<ResolvedTarget, 'store'> {
  readonly context: Context;
  readonly messages: Messages;
  /** The name of the command, such as `history list`. It is shown to other processes. */
  readonly command: string;
}
type Need = OpenStateOptions['need'];
type ExistingStateUse = Partial<Pick<OpenStateOptions, 'need' | 'notDone'>> & { readonly isOwn?: boolean };

/**
 * Opens the state for a command that must not create one, and closes it afterwards.
 * @param read receives undefined if there is no state yet
 * @param options with `need: 'limits'`, a state in the runtime folder is found, too; with `isOwn`, this machine's state
 * is opened even if a shared one is configured; `notDone`: see `OpenStateOptions`
 * @throws FailureError if the state can't be used, UnavailableError if it can't be reached
 */
export async function withExistingState<T>(
  use: StateUse,
  read: (state: State | undefined) => Promise<T>,
  { need = 'history', isOwn = false, notDone }: ExistingStateUse = {},
): Promise<T> {
  const { openExistingState } = await import('../../state/open-state.ts');
  const { url, ...options } = stateOptions(use, need);
  const state = await openExistingState({ ...options, notDone, ...(url !== undefined && !isOwn && { url }) });
  try {
    return await read(state);
  } finally {
    await state?.close();
  }
}

/** Returns the URL of the shared state, if one is configured. The sandbox always uses this machine's state. */
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
    ...(url !== undefined && { url, user: userOf(env) }),
    outageTimeout: (settingOf(settings, 'state-patience') ?? 60) * 1000,
    ...(keepFor !== undefined && { keepFor: keepFor * 86_400_000 }),
    warn: (line) => void messages.warn(line),
  };
}
