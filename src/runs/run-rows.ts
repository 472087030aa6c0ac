import { type BulkRow, isIdle, owedDelta, type RowError } from '../inventory/change.ts';
import type { PlannedRow } from '../inventory/run-records.ts';
import type { RowWrite, WriteProgress } from '../writes/row-write.ts';

/**
 * Numbers the rows to be recorded, from 1. Rows for which nothing is to be written, and rows whose wanted stock is not
 * known, get no number.
 */
export function numberRows(rows: readonly BulkRow[]): readonly (number | undefined)[] {
  let count = 0;
  return rows.map(({ result, after }) => {
    const isCounted = !isIdle({ result }) && after !== undefined;
    if (isCounted) count += 1;
    return isCounted ? count : undefined;
  });
}

/** Yields the rows of a new run that are recorded: those with a number. */
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

/**
 * Returns a row with its outcome.
 * @param stopped the error that ended the run, if any, for rows that were not attempted
 */
export function rowAfter(
  row: BulkRow,
  number: number | undefined,
  { settled, unknown, notWritten }: WriteProgress,
  stopped: RowError | undefined,
): BulkRow {
  if (row.result !== 'planned' || number === undefined) return row;
  const outcome = settled.get(number);
  if (outcome !== undefined) {
    const { result, quantity, error, rebased = row } = outcome;
    const { line, petId, delta, expected, reason, ref } = row;
    const { before, after } = rebased;
    // Copied field by field: spreading so many rows takes three times the memory.
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

export function commonReason(rows: readonly BulkRow[]): string | undefined {
  const [first] = rows;
  return rows.every(({ reason }) => reason === first?.reason) ? first?.reason : undefined;
}
