import type { BulkRow, BulkRows } from '../inventory/change.ts';
import type { Progression, RowWrite, RowWrites } from './row-write.ts';

/** The write of a planned row; undefined for one that is not to be sent. */
function rowWrite({ petId, before, after, result }: BulkRow, row: number | undefined): RowWrite | undefined {
  if (row === undefined || after === undefined || result !== 'planned') return undefined;
  return { row, petId, before, after };
}

/** The writes of planned rows, made when they are looked at. @param numbers of the rows within the run */
export function rowWrites(rows: BulkRows, numbers: readonly (number | undefined)[]): RowWrites {
  const writes = {
    *[Symbol.iterator]() {
      let index = 0;
      for (const row of rows) {
        const write = rowWrite(row, numbers[index]);
        index += 1;
        if (write !== undefined) yield write;
      }
    },
  };
  let length = 0;
  for (const _ of writes) length += 1;
  return { length, ...writes };
}

/** The row as the run leaves it. */
export function rowAfter(
  row: BulkRow,
  number: number | undefined,
  { settled, unknown, unwritten }: Progression,
): BulkRow {
  if (row.result !== 'planned' || number === undefined) return row;
  const settlement = settled.get(number);
  if (settlement !== undefined) return withResult(row, settlement.result, settlement);
  const open = unknown.get(number);
  if (open === undefined) {
    const error = unwritten.get(number);
    return error === undefined ? withResult(row, 'notAttempted', {}) : withResult(row, 'failed', { error });
  }
  const message = `it is not known whether it was written: ${open.error.message}`;
  return withResult(row, 'unknown', { error: { ...open.error, message } });
}

/** One literal for all rows, so that they share their shape in memory. */
function withResult(
  { line, petId, before, after, delta, expected, reason, ref }: BulkRow,
  result: BulkRow['result'],
  { quantity, error }: Pick<BulkRow, 'quantity' | 'error'>,
): BulkRow {
  return { line, petId, before, after, delta, expected, result, quantity, error, reason, ref };
}
