import { UsageError } from '../../shared/errors.ts';
import { shellWord } from '../../shared/shell-word.ts';
import type { RunRecord } from '../../state/history.ts';
import type { Connection } from '../invocation/connect.ts';

/** To be called before anything else is asked of an environment that may not even be set up. @throws UsageError */
export function requireSameEnvironment(run: RunRecord, environment: string, command: string): void {
  if (run.env === environment) return;
  throw new UsageError(`Run ${run.run} was made in ${run.env}, not in ${environment}; nothing was sent`, {
    hint: `${command} --env ${shellWord(run.env)}`,
  });
}

/** @throws UsageError where a run was made at another service */
export function requireSameService(
  run: RunRecord,
  { environment, baseUrl, service }: Connection,
  command: string,
): void {
  if (run.service === service) return;
  throw new UsageError(
    `Run ${run.run} was made at ${run.baseUrl}, and ${environment} is now ${baseUrl}; nothing was sent`,
    { hint: `PETSTOCK_URL_${run.env.toUpperCase()}=${shellWord(run.baseUrl)} ${command} --env ${shellWord(run.env)}` },
  );
}
