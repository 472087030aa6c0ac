import type { StoredConfig } from '../../settings/config-file.ts';
import { type EnvironmentName, resolveSetting, settingOf } from '../../settings/settings.ts';
import type { Sourced } from '../../settings/variables.ts';
import { runtimeFolder } from '../../shared/runtime-folder.ts';
import type { OpenStateOptions } from '../../state/open-state.ts';
import type { State } from '../../state/state.ts';
import type { Context } from '../context.ts';
import type { Messages } from './messages.ts';
import { userOf } from './user.ts';

/** Which state a command opens, and what for. */
export interface StateUse {
  readonly context: Context;
  readonly messages: Messages;
  readonly config: StoredConfig;
  readonly environment: Pick<Sourced<EnvironmentName>, 'value'>;
  /** The name that other processes are shown: `history list`. */
  readonly command: string;
  readonly need: OpenStateOptions['need'];
}

/**
 * Opens the state of this machine, or the one that it shares with others; it is made if it is missing. The caller closes it.
 *
 * @throws FailureError if it can't be used, UnavailableError if another process holds it for too long
 */
export async function openStateFor(use: StateUse): Promise<State> {
  // Late: the engine takes a while to load.
  const { openState } = await import('../../state/open-state.ts');
  const options = stateOptions(use);
  return keepingGates(await openState(options), options, use.context);
}

/**
 * Opens the state for a command that only looks, and closes it behind it.
 *
 * @param look is given undefined if there is no state yet
 * @param need `limits` finds what is kept in the runtime folder, too
 * @throws FailureError if it can't be used
 */
export async function withExistingState<T>(
  { context, messages, config, environment }: Omit<StateUse, 'command' | 'need'>,
  command: string,
  look: (state: State | undefined) => Promise<T>,
  need: OpenStateOptions['need'] = 'history',
): Promise<T> {
  const { openExistingState } = await import('../../state/open-state.ts');
  const options = stateOptions({ context, messages, config, environment, command, need });
  const state = await openExistingState(options);
  try {
    return await look(state && (await keepingGates(state, options, context)));
  } finally {
    await state?.close();
  }
}

async function keepingGates(state: State, options: OpenStateOptions, { interrupted }: Context): Promise<State> {
  const { withGateCopies } = await import('../../state/gate-copies.ts');
  return withGateCopies(state, { ...options, interrupted });
}

/** The state that several machines share, where there is one. The sandbox is on this machine, and so is its state. */
export function sharedStateOf({
  context,
  config,
  environment,
}: Pick<StateUse, 'context' | 'config' | 'environment'>): Sourced<string> | undefined {
  return environment.value === 'sandbox' ? undefined : resolveSetting('state-url', context.env, config.settings);
}

function stateOptions(use: StateUse): OpenStateOptions {
  const { context, messages, command, need } = use;
  const { settings } = use.config;
  const keepFor = settings['keep-history'];
  const { clock, processes, random, folders, env } = context;
  const url = sharedStateOf(use)?.value;
  return {
    folder: folders.state,
    ...(url !== undefined && { url, user: userOf(env) }),
    runtimeFolder: runtimeFolder(env),
    need,
    clock,
    processes,
    random,
    command,
    patience: (settingOf(settings, 'state-patience') ?? 60) * 1000,
    ...(keepFor !== undefined && { keepFor: keepFor * 86_400_000 }),
    // A promise is weakened then: that is said with --quiet, too.
    warn: (line) => void messages.alert(line),
  };
}
