import { userInfo } from 'node:os';
import type { BulkRow } from '../../inventory/change.ts';
import type { PlannedRow, RunHead, RunLog } from '../../state/history.ts';
import type { Connection } from '../invocation/connect.ts';
import type { Invocation } from '../invocation/invocation.ts';

/** What a new run is about, besides where it goes and who runs it. */
export type RunSubject = Pick<RunHead, 'command' | 'file' | 'contentHash' | 'hasDeltas' | 'undoes'>;

/** Begins a run in the history, with all rows that are to be written or known not to be. */
export function beginRun(
  invocation: Invocation,
  { environment, baseUrl, service, scope, state }: Connection,
  subject: RunSubject,
  { rows, numbers }: { readonly rows: readonly BulkRow[]; readonly numbers: readonly (number | undefined)[] },
): Promise<RunLog> {
  const unchanged = rows.filter(({ result }) => result === 'unchanged').length;
  const head: RunHead = {
    ...subject,
    env: environment,
    store: undefined,
    baseUrl,
    service,
    scope,
    user: userOf(invocation.context.env),
    reason: commonReason(rows),
    unchanged,
  };
  return state.history.begin(head, plannedRows(rows, numbers));
}

/** The rows of a new run are counted that want another stock. A pet that the service does not have can't be taken back. */
export function numberRows(rows: readonly BulkRow[]): readonly (number | undefined)[] {
  let count = 0;
  return rows.map(({ result, after, error }) => {
    if (result === 'unchanged' || after === undefined || error?.code === 'pet_not_found') return undefined;
    count += 1;
    return count;
  });
}

function* plannedRows(
  rows: readonly BulkRow[],
  numbers: readonly (number | undefined)[],
): Generator<PlannedRow, undefined, undefined> {
  for (const [index, { line, petId, before, after, result, error, reason, ref }] of rows.entries()) {
    const row = numbers[index];
    if (row === undefined || after === undefined) continue;
    const isSettled = (result === 'conflict' || result === 'failed') && error !== undefined;
    yield { row, line, petId, before, after, reason, ref, outcome: isSettled ? { result, error } : undefined };
  }
}

/** What all rows give as their reason, where they agree. */
function commonReason([first, ...others]: readonly BulkRow[]): string | undefined {
  return others.every(({ reason }) => reason === first?.reason) ? first?.reason : undefined;
}

function userOf(env: Invocation['context']['env']): string | undefined {
  const named = env.USER ?? env.LOGNAME ?? env.USERNAME;
  if (named !== undefined && named !== '') return named;
  try {
    return userInfo().username;
  } catch {
    // A container may run under a number that has no name.
    return undefined;
  }
}
