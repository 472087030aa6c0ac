import { UsageError } from '../errors.ts';
import type { RecordedRun } from '../history/records.ts';
import type { Connection } from '../invocation/connect.ts';

/** @throws UsageError where a run was made in another environment, or at another address */
export function requireSameService(run: RecordedRun, { environment, baseUrl }: Connection, command: string): void {
  if (run.env !== environment) {
    throw new UsageError(`Run ${run.run} was made in ${run.env}, not in ${environment}; nothing was sent`, {
      hint: `${command} --env ${run.env}`,
    });
  }
  // The sandbox has another address with every start.
  if (environment !== 'sandbox' && run.baseUrl !== baseUrl) {
    throw new UsageError(
      `Run ${run.run} was made at ${run.baseUrl}, and ${environment} is now ${baseUrl}; nothing was sent`,
      { hint: `PETSTOCK_URL_${run.env.toUpperCase()}=${run.baseUrl} ${command} --env ${run.env}` },
    );
  }
}
