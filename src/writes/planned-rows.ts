import type { BulkRows } from '../inventory/change.ts';
import type { PlannedRow } from '../state/history.ts';

/** The rows of a new run are counted that want another stock. A pet that the service does not have can't be taken back. */
export function numberRows(rows: BulkRows): readonly (number | undefined)[] {
  const numbers: (number | undefined)[] = [];
  let count = 0;
  for (const { result, after, error } of rows) {
    const isCounted = result !== 'unchanged' && after !== undefined && error?.code !== 'pet_not_found';
    if (isCounted) count += 1;
    numbers.push(isCounted ? count : undefined);
  }
  return numbers;
}

/** What a new run puts on disk: the rows that have a number. */
export function* plannedRows(
  rows: BulkRows,
  numbers: readonly (number | undefined)[],
): Generator<PlannedRow, undefined, undefined> {
  let index = 0;
  for (const { line, petId, before, after, result, error, reason, ref } of rows) {
    const row = numbers[index];
    index += 1;
    if (row === undefined || after === undefined) continue;
    const isSettled = (result === 'conflict' || result === 'failed') && error !== undefined;
    yield { row, line, petId, before, after, reason, ref, outcome: isSettled ? { result, error } : undefined };
  }
}

/** What all rows give as their reason, where they agree. */
export function commonReason(rows: BulkRows): string | undefined {
  let common: string | undefined;
  let isFirst = true;
  for (const { reason } of rows) {
    if (!isFirst && reason !== common) return undefined;
    common = reason;
    isFirst = false;
  }
  return common;
}
