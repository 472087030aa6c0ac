import type { BulkRow } from '../../inventory/change.ts';
import type { RunHead, RunLog } from '../../state/history.ts';
import { commonReason, plannedRows } from '../../writes/planned-rows.ts';
import type { Connection } from '../invocation/connect.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { userOf } from '../invocation/user.ts';

/** What a new run is about, besides where it goes and who runs it. */
export type RunSubject = Pick<RunHead, 'command' | 'file' | 'contentHash' | 'hasDeltas' | 'undoes'>;

/** Begins a run in the history, with all rows that are to be written or known not to be. */
export function beginRun(
  invocation: Invocation,
  { environment, store, baseUrl, service, scope, state }: Connection,
  subject: RunSubject,
  { rows, numbers }: { readonly rows: readonly BulkRow[]; readonly numbers: readonly (number | undefined)[] },
): Promise<RunLog> {
  const unchanged = rows.filter(({ result }) => result === 'unchanged').length;
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
  return state.history.begin(head, plannedRows(rows, numbers));
}
