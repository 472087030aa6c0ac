import type { Connection } from '../cli/invocation/connect.ts';
import type { RecordedRun } from '../history/records.ts';
import { UsageError } from '../shared/errors.ts';

/** To be called before anything else is asked of an environment that may not even be set up. @throws UsageError */
export function requireSameEnvironment(run: RecordedRun, environment: string, command: string): void {
  if (run.env === environment) return;
  throw new UsageError(`Run ${run.run} was made in ${run.env}, not in ${environment}; nothing was sent`, {
    hint: `${command} --env ${run.env}`,
  });
}

/** @throws UsageError where a run was made at another address. The sandbox has another one with every start */
export function requireSameAddress(run: RecordedRun, { environment, baseUrl }: Connection, command: string): void {
  if (environment === 'sandbox' || run.baseUrl === baseUrl) return;
  throw new UsageError(
    `Run ${run.run} was made at ${run.baseUrl}, and ${environment} is now ${baseUrl}; nothing was sent`,
    { hint: `PETSTOCK_URL_${run.env.toUpperCase()}=${run.baseUrl} ${command} --env ${run.env}` },
  );
}
