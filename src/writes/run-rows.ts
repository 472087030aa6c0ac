import { type BulkRow, isIdle, owedDelta, type RowError } from '../inventory/change.ts';
import type { PlannedRow } from '../inventory/run-records.ts';
import type { Row } from '../state/open-run.ts';
import { basisOf, type Stock } from './stock.ts';

/** Pets whose row is recorded although it needs no change. */
export type ConfirmedPets = Pick<ReadonlySet<bigint>, 'has'> | undefined;

/** Returns whether a row is recorded: not if nothing is to be written for it, or if its wanted stock is not known. */
export function isRecorded(
  { petId, result, after }: Pick<BulkRow, 'petId' | 'result' | 'after'>,
  confirmed: ConfirmedPets,
): boolean {
  return after !== undefined && (!isIdle({ result }) || (result === 'unchanged' && confirmed?.has(petId) === true));
}

/**
 * Returns the rows of a new run, numbered from 1.
 * @param stock the stock that they were planned with, if it was read
 */
export function plannedRows(
  rows: readonly BulkRow[],
  stock: Stock | undefined,
  { confirmed, ...options }: Pick<PlannedRow, 'readsFirst'> & { readonly confirmed?: ConfirmedPets } = {},
): PlannedRow[] {
  const planned: PlannedRow[] = [];
  for (const { line, petId, before, after, result, error, reason, ref, ...row } of rows) {
    if (after === undefined || !isRecorded({ petId, result, after }, confirmed)) continue;
    const isSettled = ((result === 'conflict' || result === 'failed') && error !== undefined) || result === 'unchanged';
    const delta = result === 'planned' ? owedDelta(row) : undefined;
    const basis = stock === undefined ? undefined : basisOf(stock, petId);
    const outcome = isSettled ? { result, error } : undefined;
    const number = planned.length + 1;
    planned.push({ row: number, line, petId, before, after, delta, basis, reason, ref, outcome, ...options });
  }
  return planned;
}

/**
 * Returns a planned row with its outcome.
 * @param isUnwritten whether the row was sent and certainly not carried out
 * @param stopped the error that ended the run, if any, for rows that were not attempted
 */
export function rowAfter(
  planned: BulkRow,
  row: Row,
  { isUnwritten, stopped }: { readonly isUnwritten: boolean; readonly stopped: RowError | undefined },
): BulkRow {
  const { line, petId, delta, expected, reason, ref } = planned;
  const { result, before, after } = row;
  const isPending = result === 'pending' || result === 'sent';
  const outcome = isPending ? (isUnwritten ? 'failed' : 'notAttempted') : result;
  const error = isPending && !isUnwritten ? stopped : row.error;
  const quantity = result === 'differs' ? row.quantity : undefined;
  // Copied field by field: spreading so many rows takes three times the memory.
  return { line, petId, before, after, delta, expected, result: outcome, quantity, error, reason, ref };
}

export function commonReason(rows: readonly BulkRow[]): string | undefined {
  const [first] = rows;
  return rows.every(({ reason }) => reason === first?.reason) ? first?.reason : undefined;
}
