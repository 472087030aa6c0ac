import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveStateUrl } from '../../settings/resolve.ts';
import type { EnvironmentName, Sourced, StoredConfig } from '../../settings/settings.ts';
import { effectiveUser } from '../../shared/effective-user.ts';
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
  /** What other processes are shown: `history list`. */
  readonly command: string;
  readonly need: OpenStateOptions['need'];
}

/**
 * Opens the state of this machine, or the one that it shares with others; it is made where it is missing. The caller closes it.
 *
 * @throws FailureError where it can't be used, UnavailableError where another process holds it for too long
 */
export async function openStateFor(use: StateUse): Promise<State> {
  // Late: the engine takes a while to load.
  const { openState } = await import('../../state/open-state.ts');
  return openState(stateOptions(use));
}

/**
 * Opens the state for a command that only looks, and closes it behind it.
 *
 * @param look is given undefined where there is no state yet
 * @param need `limits` finds what is kept in the runtime folder, too
 * @throws FailureError where it can't be used
 */
export async function withExistingState<T>(
  { context, messages, config, environment }: Omit<StateUse, 'command' | 'need'>,
  command: string,
  look: (state: State | undefined) => Promise<T>,
  need: OpenStateOptions['need'] = 'history',
): Promise<T> {
  const { openExistingState } = await import('../../state/open-state.ts');
  const state = await openExistingState(stateOptions({ context, messages, config, environment, command, need }));
  try {
    return await look(state);
  } finally {
    await state?.close();
  }
}

/** The state that several machines share, where there is one. The sandbox is on this machine, and so is its state. */
export function sharedStateOf({
  context,
  config,
  environment,
}: Pick<StateUse, 'context' | 'config' | 'environment'>): Sourced<string> | undefined {
  return environment.value === 'sandbox' ? undefined : resolveStateUrl(context.env, config.settings);
}

function stateOptions(use: StateUse): OpenStateOptions {
  const { context, messages, command, need } = use;
  const { clock, processes, random, folders, env } = context;
  const url = sharedStateOf(use)?.value;
  return {
    folder: folders.state,
    ...(url !== undefined && { url, user: userOf(env) }),
    runtimeFolder: runtimeFolder(env, existsSync),
    need,
    clock,
    processes,
    random,
    command,
    // A promise is weakened then: that is said with --quiet, too.
    warn: (line) => void messages.alert(line),
  };
}

/** Where limits are shared when the state folder can't be used: cron and sudo have the folder of a login, and not its variable. */
export function runtimeFolder({ XDG_RUNTIME_DIR: runtime }: Context['env'], exists: (path: string) => boolean): string {
  // A container may run under a number that has no name, of which `userInfo` would throw.
  const user = effectiveUser() ?? 'user';
  const usual = `/run/user/${user}`;
  if (runtime?.startsWith('/')) return join(runtime, 'petstock');
  return exists(usual) ? join(usual, 'petstock') : join(tmpdir(), `petstock-${user}`);
}
