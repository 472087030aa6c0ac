import type { RunRecord } from '../../inventory/run-records.ts';
import { serviceNameOf } from '../../settings/key-and-url.ts';
import { resolveBaseUrl } from '../../settings/resolve.ts';
import { urlVariable } from '../../settings/variables.ts';
import { InterruptedError, NotFoundError, UsageError } from '../../shared/errors.ts';
import { petstock, shellWord } from '../../shared/hint.ts';
import { isEnvironment, type Target, targetName } from '../../shared/target.ts';
import type { ServiceConnection } from '../invocation/connect.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { withExistingState } from '../invocation/state-access.ts';

export interface RunAccess {
  readonly invocation: Invocation;
  readonly connection: ServiceConnection;
}

/**
 * Adds to an interruption before the first request that nothing was written, and a hint to start the command again.
 * After the first request the error of the run describes how to resume it.
 * @param command the words of a command that does the same
 * @param undone what is certain at that point
 */
export async function withContinueHint<T>(
  command: readonly string[],
  run: () => Promise<T>,
  undone = 'Nothing was written',
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof InterruptedError) || error.hint !== undefined) throw error;
    throw error.with({ message: `Interrupted. ${undone}`, hint: petstock`${command}` });
  }
}

/**
 * Returns the run of an id, or of its last four characters, before asking anything about its environment.
 * @throws NotFoundError
 */
export function requireRun(invocation: Invocation, text: string): Promise<RunRecord> {
  return withExistingState(invocation, async (state) => {
    if (state === undefined) {
      throw new NotFoundError(`There is no run ${text} in the history`, { hint: 'petstock history list' });
    }
    return state.history.run(await state.history.find(text));
  });
}

/** Throws UsageError if a run belongs to another target. Call this first, because the target may not be configured. */
export function requireSameTarget(run: RunRecord, target: Target, command: readonly string[]): void {
  // A library may use its own name for the target, so only the service shows where its run was made.
  if (!isEnvironment(run.env) || (run.env === target.env && run.store === target.store)) return;
  throw new UsageError(
    `Run ${run.run} was made in ${targetName(run)}, not in ${targetName(target)}. Nothing was sent`,
    { hint: petstock`${command}` },
  );
}

/** @throws UsageError if a run was made at another service */
export function requireSameService(run: RunRecord, connection: ServiceConnection, command: readonly string[]): void {
  const { env, store, baseUrl, serviceName } = connection;
  if (run.serviceName === serviceName) return;
  const now = `${targetName(connection)} is now ${baseUrl}`;
  const variable = env === 'sandbox' ? '' : `${urlVariable(env, store)}=${shellWord(run.baseUrl)} `;
  throw new UsageError(`Run ${run.run} was made at ${run.baseUrl}, but ${now}. Nothing was sent`, {
    hint: variable + petstock`${command}`,
  });
}

/**
 * Returns the service that a write would go to; undefined if no address is set, and for the sandbox, which has another
 * one each time.
 */
export function serviceNow({ context, environment, config }: Invocation): string | undefined {
  const env = environment.value;
  const url = env === 'sandbox' ? undefined : resolveBaseUrl(env, context.env, config);
  return url && serviceNameOf(url.value);
}

/**
 * Returns why the latest run of a target is skipped, as a clause that begins with a verb; undefined if it was made at
 * this service.
 */
export function whyElsewhere(run: RunRecord, service: string | undefined): string | undefined {
  return service === undefined || run.serviceName === service ? undefined : `was made at ${run.baseUrl}`;
}

export function skippedText({ run, command }: RunRecord, why: string): string {
  return `Skipped: run ${run} (${command}) ${why}.`;
}

/** Prints how to undo a run. */
export async function noteUndoOf({ messages, globals, environment }: Invocation, run: string): Promise<void> {
  const store = globals.store === undefined ? [] : ['--store', globals.store];
  const where = environment.source === '--env' ? [...store, '--env', environment.value] : store;
  await messages.note(`Undo: ${petstock`undo ${run.slice(-4)} ${where}`}`);
}
