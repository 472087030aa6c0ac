import { isUnclear } from '../../inventory/change.ts';
import type { EarlierChange } from '../../inventory/earlier-changes.ts';
import type { RecordedResult, RunFilter } from '../../inventory/run-records.ts';
import type { RunAccess } from './run-access.ts';

/** The results of rows that were or may have been written, or that a resume writes. */
const possible: readonly RecordedResult[] = ['applied', 'differs', 'unknown', 'conflict', 'pending'];

/**
 * Returns the changes of this service that were or may have been written, or that the resume of an unfinished run would
 * write, without those that were undone. The newest run comes first.
 */
export async function earlierChanges(
  { connection: { history, service, target } }: RunAccess,
  filter: Pick<RunFilter, 'ref' | 'since' | 'petIds'>,
): Promise<readonly EarlierChange[]> {
  const found: EarlierChange[] = [];
  const { env, store = null } = target;
  for await (const run of history.runs({ env, store, ...filter })) {
    if (run.service !== service) continue;
    for await (const row of history.rows(run.run, possible)) {
      if (row.undoneBy !== undefined || (row.result === 'conflict' && !isUnclear(row))) continue;
      if (row.result === 'pending' && run.state === 'done') continue;
      const { petId, before, delta, ref } = row;
      const after = row.quantity ?? row.after;
      found.push({ run: run.run, at: run.at, command: run.command, file: run.file, petId, before, after, delta, ref });
    }
  }
  return found;
}
