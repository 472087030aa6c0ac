import { urlVariable } from '../../settings/variables.ts';
import { UsageError } from '../../shared/errors.ts';
import { shellWord } from '../../shared/shell-word.ts';
import { type Where, whereName, whereOptions } from '../../shared/where.ts';
import type { RunRecord } from '../../state/history.ts';
import type { Connection } from '../invocation/connect.ts';

/** To be called before anything else is asked of a place that may not even be set up. @throws UsageError */
export function requireSamePlace(run: RunRecord, where: Where, command: string): void {
  if (run.env === where.env && run.store === where.store) return;
  throw new UsageError(`Run ${run.run} was made in ${whereName(run)}, not in ${whereName(where)}; nothing was sent`, {
    hint: `${command} ${whereOptions(run)}`,
  });
}

/** @throws UsageError where a run was made at another service */
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
