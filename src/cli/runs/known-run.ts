import { urlVariable } from '../../settings/variables.ts';
import { NotFoundError, UsageError } from '../../shared/errors.ts';
import { shellWord, type Where, whereName, whereOptions } from '../../shared/where.ts';
import type { RunRecord } from '../../state/history.ts';
import type { Connection } from '../invocation/connect.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { withExistingState } from '../invocation/state.ts';

/**
 * Returns the run that a person means, before anything is asked of its environment.
 * @param text its id, or the last four characters of it
 * @throws UsageError, NotFoundError
 */
export function requireRun(invocation: Invocation, text: string): Promise<RunRecord> {
  return withExistingState(invocation, async (state) => {
    if (state === undefined) {
      throw new NotFoundError(`There is no run ${text} in the history`, { hint: 'petstock history list' });
    }
    return state.history.run(await state.history.find(text));
  });
}

/** Throws UsageError if a run was made elsewhere. To be called before anything else is asked of a place that may not be set up. */
export function requireSamePlace(run: RunRecord, where: Where, command: string): void {
  if (run.env === where.env && run.store === where.store) return;
  throw new UsageError(`Run ${run.run} was made in ${whereName(run)}, not in ${whereName(where)}; nothing was sent`, {
    hint: `${command} ${whereOptions(run)}`,
  });
}

/** @throws UsageError if a run was made at another service */
export function requireSameService(
  run: RunRecord,
  { environment, store, ...connection }: Connection,
  command: string,
): void {
  if (run.service === connection.service) return;
  const now = `${whereName({ store, env: environment })} is now ${connection.baseUrl}`;
  const variable = environment === 'sandbox' ? '' : `${urlVariable(environment, store)}=${shellWord(run.baseUrl)} `;
  throw new UsageError(`Run ${run.run} was made at ${run.baseUrl}, and ${now}; nothing was sent`, {
    hint: `${variable}${command} ${whereOptions(run)}`,
  });
}
