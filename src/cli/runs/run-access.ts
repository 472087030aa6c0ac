import type { RunRecord } from '../../inventory/run-records.ts';
import { serviceNameOf } from '../../settings/key-and-url.ts';
import { resolveBaseUrl } from '../../settings/resolve.ts';
import { urlVariable } from '../../settings/variables.ts';
import { InterruptedError, NotFoundError, UsageError } from '../../shared/errors.ts';
import { flagWords, petstock, shellWord, type Target, targetName } from '../../shared/hint.ts';
import type { ServiceConnection, WriteConnection } from '../invocation/connect.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { existingState } from '../invocation/state-access.ts';

export interface RunAccess {
  readonly invocation: Invocation;
  readonly connection: WriteConnection;
}

/**
 * Carries out `run`. If it is interrupted before its first write, the error says that nothing was written, and its hint
 * starts the command again. Later, the error of the run already says how to resume.
 * @param command the words of a command that does the same
 * @param notDone the sentence about what was not done
 */
export async function withContinueHint<T>(
  command: readonly string[],
  run: () => Promise<T>,
  notDone = 'Nothing was written',
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof InterruptedError) || error.hint !== undefined) throw error;
    throw error.with({ message: `Interrupted. ${notDone}`, hint: petstock`${command}` });
  }
}

/**
 * Returns the run with this id, or with an id that ends in these four characters. The target need not be configured.
 * @throws NotFoundError if there is no such run; UsageError if the text is neither, or several ids end in it
 */
export async function requireRun(invocation: Invocation, text: string): Promise<RunRecord> {
  const found = await existingState(invocation);
  if (found !== undefined) return found.history.find(text);
  throw new NotFoundError(`There is no run ${text} in the history`, { hint: 'petstock history list' });
}

/**
 * Checks that a run belongs to the chosen target. Call this first, because the target may not be configured.
 * @throws UsageError if the run belongs to another target
 */
export function requireSameTarget(run: RunRecord, target: Target, command: readonly string[]): void {
  if (run.env === target.env && run.store === target.store) return;
  throw new UsageError(
    `Run ${run.run} was made in ${targetName(run)}, not in ${targetName(target)}. Nothing was sent`,
    { hint: petstock`${command}` },
  );
}

/**
 * Checks that a run was made at the service of a connection.
 * @throws UsageError if the run was made at another service
 */
export function requireSameService(run: RunRecord, connection: ServiceConnection, command: readonly string[]): void {
  const { env, store, baseUrl, service } = connection;
  if (run.service === service) return;
  const now = `${targetName(connection)} is now ${baseUrl}`;
  const variable = env === 'sandbox' ? '' : `${urlVariable(env, store)}=${shellWord(run.baseUrl)} `;
  throw new UsageError(`Run ${run.run} was made at ${run.baseUrl}, but ${now}. Nothing was sent`, {
    hint: variable + petstock`${command}`,
  });
}

/**
 * Returns the name of the service that a write would go to; undefined if no address is set, and for the sandbox, whose
 * address changes with each command.
 */
export function serviceNow({ context, environment, config }: Invocation): string | undefined {
  const env = environment.value;
  const url = env === 'sandbox' ? undefined : resolveBaseUrl(env, context.env, config);
  return url && serviceNameOf(url.value);
}

/**
 * Returns why a run is skipped, as a clause that begins with a verb; undefined if it was made at this service, or if
 * the service is not known.
 */
export function whyElsewhere(run: RunRecord, service: string | undefined): string | undefined {
  return service === undefined || run.service === service ? undefined : `was made at ${run.baseUrl}`;
}

export function skippedText({ run, command }: RunRecord, why: string): string {
  return `Skipped: run ${run} (${command}) ${why}.`;
}

export async function noteUndoOf({ messages, globals: { store, env } }: Invocation, run: string): Promise<void> {
  await messages.note(`Undo: ${petstock`undo ${run.slice(-4)} ${flagWords({ store, env })}`}`);
}
