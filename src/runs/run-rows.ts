import { type BulkRow, owedDelta, type RowError } from '../inventory/change.ts';
import type { PlannedRow } from '../inventory/run-records.ts';
import type { RowWrite, WriteProgress } from '../writes/row-write.ts';

/** Returns the number of each row in its run, from 1: rows that want another stock have one. A pet that is not there can't be undone. */
export function numberRows(rows: readonly BulkRow[]): readonly (number | undefined)[] {
  let count = 0;
  return rows.map(({ result, after }) => {
    const isCounted = !['unchanged', 'notEdited', 'skipped'].includes(result) && after !== undefined;
    if (isCounted) count += 1;
    return isCounted ? count : undefined;
  });
}

/** Yields what a new run puts on disk: the rows that have a number. */
export function* plannedRows(
  rows: readonly BulkRow[],
  numbers: readonly (number | undefined)[],
): Generator<PlannedRow, undefined, undefined> {
  for (const [index, { line, petId, before, after, result, error, reason, ref, ...row }] of rows.entries()) {
    const number = numbers[index];
    if (number === undefined || after === undefined) continue;
    const isSettled = (result === 'conflict' || result === 'failed') && error !== undefined;
    const delta = result === 'planned' ? owedDelta(row) : undefined;
    const outcome = isSettled ? { result, error } : undefined;
    yield { row: number, line, petId, before, after, delta, reason, ref, outcome };
  }
}

/** Yields the writes of the rows that are planned. */
export function* rowWrites(
  rows: readonly BulkRow[],
  numbers: readonly (number | undefined)[],
): Generator<RowWrite, undefined, undefined> {
  for (const [index, row] of rows.entries()) {
    const { petId, before, after, result } = row;
    const number = numbers[index];
    if (number === undefined || after === undefined || result !== 'planned') continue;
    yield { row: number, petId, before, after, delta: owedDelta(row) };
  }
}

/** Returns the row as the run leaves it. @param stopped what ended the run, if a failure did: the error of rows that were not attempted */
export function rowAfter(
  row: BulkRow,
  number: number | undefined,
  { settled, unknown, notWritten }: WriteProgress,
  stopped: RowError | undefined,
): BulkRow {
  if (row.result !== 'planned' || number === undefined) return row;
  const settlement = settled.get(number);
  if (settlement !== undefined) {
    const { result, quantity, error, rebased = row } = settlement;
    const { line, petId, delta, expected, reason, ref } = row;
    const { before, after } = rebased;
    // Field by field: a spread of so many takes three times the memory.
    return { line, petId, before, after, delta, expected, result, quantity, error, reason, ref };
  }
  const open = unknown.get(number);
  if (open === undefined) {
    const error = notWritten.get(number);
    return { ...row, result: error === undefined ? 'notAttempted' : 'failed', error: error ?? stopped };
  }
  const { before, after } = open.write;
  return { ...row, before, after, result: 'unknown', error: open.error };
}

/** Returns what all rows give as their reason if they agree. */
export function commonReason(rows: readonly BulkRow[]): string | undefined {
  const [first] = rows;
  return rows.every(({ reason }) => reason === first?.reason) ? first?.reason : undefined;
}
