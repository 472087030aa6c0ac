import type { BulkRows } from '../../inventory/change.ts';
import { countWhere } from '../../inventory/change.ts';
import type { RunHead, RunLog } from '../../state/history.ts';
import { commonReason, plannedRows } from '../../writes/planned-rows.ts';
import type { Connection } from '../invocation/connect.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { userOf } from '../invocation/user.ts';
import type { PlanJob } from './perform-plan.ts';
import type { Session } from './session.ts';

/** What a new run is about, besides where it goes and who runs it. */
export type RunSubject = Pick<RunHead, 'command' | 'file' | 'contentHash' | 'hasDeltas' | 'undoes'>;

/** Begins a run in the history, with all rows that are to be written or known not to be. */
export function beginRun(
  invocation: Invocation,
  { environment, store, baseUrl, service, scope, state }: Connection,
  subject: RunSubject,
  { rows, numbers }: { readonly rows: BulkRows; readonly numbers: readonly (number | undefined)[] },
): Promise<RunLog> {
  const unchanged = countWhere(rows, ({ result }) => result === 'unchanged');
  const head: RunHead = {
    ...subject,
    env: environment,
    store,
    baseUrl,
    service,
    scope,
    user: userOf(invocation.context.env),
    reason: commonReason(rows),
    unchanged,
  };
  // It may be gone through again.
  return state.history.begin(head, { [Symbol.iterator]: () => plannedRows(rows, numbers) });
}

/** How a plan becomes a run. Of what the caller knows, no more than this is kept as long as the run is. */
export function beginning({ invocation, connection }: Session, subject: RunSubject): PlanJob['begin'] {
  return (rows, numbers) => beginRun(invocation, connection, subject, { rows, numbers });
}
