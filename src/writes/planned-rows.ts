import type { BulkRow } from '../inventory/change.ts';
import type { PlannedRow } from '../state/history.ts';

/** The rows of a new run are counted that want another stock. A pet that the service does not have can't be taken back. */
export function numberRows(rows: readonly BulkRow[]): readonly (number | undefined)[] {
  let count = 0;
  return rows.map(({ result, after, error }) => {
    if (result === 'unchanged' || after === undefined || error?.code === 'pet_not_found') return undefined;
    count += 1;
    return count;
  });
}

/** What a new run puts on disk: the rows that have a number. */
export function* plannedRows(
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
export function commonReason([first, ...others]: readonly BulkRow[]): string | undefined {
  return others.every(({ reason }) => reason === first?.reason) ? first?.reason : undefined;
}
