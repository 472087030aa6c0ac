import { userInfo } from 'node:os';
import { GateFile } from '../../rate-limit/gate-file.ts';
import { type KnownKey, knownKeys } from '../../rate-limit/known-limits.ts';
import { temporaryFolder } from '../../settings/folders.ts';
import { resolveSetting } from '../../settings/settings.ts';
import type { Sourced } from '../../settings/variables.ts';
import { FailureError, PetstockError, UnavailableError } from '../../shared/errors.ts';
import { sentence } from '../../shared/parsed.ts';
import type { History } from '../../state/history.ts';
import type { OpenStateOptions } from '../../state/open-state.ts';
import type { Store } from '../../state/state-store.ts';
import type { Context } from '../context.ts';
import type { ResolvedTarget } from './globals.ts';
import type { Messages } from './messages.ts';

interface StateUse extends Pick<ResolvedTarget, 'config' | 'environment'> {
  readonly context: Context;
  readonly messages: Messages;
}

/** The state that commands share, and the history in it. */
export interface FoundState {
  readonly state: Store;
  readonly history: History;
}

interface ReadingUse extends StateUse {
  readonly connections: { closeAtEnd(close: () => Promise<void>): void };
}

/**
 * Opens the state for a command that must not create one, until the command ends.
 * @param options `notDone`: a sentence for the error of a state that can't be opened
 * @returns undefined if there is no state yet
 * @throws FailureError if the state can't be used, UnavailableError if it can't be reached
 */
export async function existingState(
  use: ReadingUse,
  { notDone }: { readonly notDone?: string } = {},
): Promise<FoundState | undefined> {
  const { openExistingState } = await import('../../state/open-state.ts');
  const state = await openExistingState(stateOptions(use)).catch((error) => {
    throw notDone === undefined ? error : withSentence(error, notDone);
  });
  if (state === undefined) return undefined;
  use.connections.closeAtEnd(() => state.close());
  return { state, history: await historyOf(state, use.context) };
}

/** Returns the history in a state. */
export async function historyOf(store: Store, { clock, random }: Pick<Context, 'clock' | 'random'>): Promise<History> {
  // Loaded late, because most commands need no history.
  const { History } = await import('../../state/history.ts');
  return new History({ store, random, now: clock.now });
}

function withSentence(error: unknown, sentence: string): unknown {
  return error instanceof PetstockError ? error.with({ message: `${error.message}. ${sentence}` }) : error;
}

/** Returns the URL of the shared state, if one is configured. The sandbox always uses this machine's state. */
export function sharedStateOf({ context, config, environment }: StateUse): Sourced<string> | undefined {
  return environment.value === 'sandbox' ? undefined : resolveSetting('state-url', context.env, config.settings);
}

/** Returns where the state is that a command uses. */
export function stateOptions(use: StateUse): OpenStateOptions {
  const { clock, folders } = use.context;
  return { folder: folders.state, url: sharedStateOf(use)?.value, clock };
}

/** Removes runs that are older than the setting keep-history. An error is ignored: it must not replace the command's own result. */
export async function removeOldRuns(history: History, { context, config }: StateUse): Promise<void> {
  const days = config.settings['keep-history'];
  if (days !== undefined) await history.removeOld(context.clock.now() - days * 86_400_000).catch(() => {});
}

/** Returns the file with the gates of all keys. */
export function gatesOf({ folders, env, clock }: Pick<Context, 'folders' | 'env' | 'clock'>): GateFile {
  return new GateFile([folders.state, temporaryFolder(env)], clock);
}

/** Returns what is known of each key without a request: the gates alone, with a warning, if the state can't be used. */
export async function lastKnownKeys(use: ReadingUse): Promise<readonly KnownKey[]> {
  const { context, messages } = use;
  const gates = gatesOf(context);
  try {
    return await knownKeys((await existingState(use))?.state, gates, context.clock);
  } catch (error) {
    if (!(error instanceof FailureError || error instanceof UnavailableError)) throw error;
    await messages.warn(`${sentence(error.message)} Only the waits that this machine was asked for are known`);
    return knownKeys(undefined, gates, context.clock);
  }
}

/** Returns the user's name, for the history and for other users; undefined if there is none. */
export function userOf(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const named = env.USER ?? env.LOGNAME ?? env.USERNAME;
  if (named !== undefined && named !== '') return named;
  try {
    return userInfo().username;
  } catch {
    // A container may run under a number without a name.
    return undefined;
  }
}
