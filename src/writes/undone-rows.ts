import type { RecordedRow, RecordedRun } from '../history/records.ts';
import type { BulkRow } from '../inventory/change.ts';

/** A row that may have been written, and whose stock before is known. */
export type UndoableRow = RecordedRow & { readonly before: number };

/** The rows of a run that can be taken back, and have not been. */
export function rowsToUndo({ rows }: RecordedRun, undone: ReadonlyMap<number, string>): readonly UndoableRow[] {
  return rows.filter((row): row is UndoableRow => {
    const isWritten = row.state === 'applied' || row.state === 'open';
    return isWritten && row.before !== undefined && !undone.has(row.row);
  });
}

/**
 * A plan that takes rows back, given the stock as it is now: only where that is still what the run wrote. The `line` of
 * each row is the number of the row in the run.
 */
export function undoRows(
  recorded: RecordedRun,
  rows: readonly UndoableRow[],
  stockOf: (petId: bigint) => number | undefined,
): readonly BulkRow[] {
  return rows.map(({ row, petId, before, after, quantity = after, ref }) => {
    const stock = stockOf(petId);
    const same = { line: row, petId, before: stock, after: before, reason: `undo of ${recorded.run}`, ref };
    const conflict = (message: string): BulkRow => ({
      ...same,
      result: 'conflict',
      error: { code: 'conflict', message },
    });
    if (stock === undefined) return conflict(`there is no pet ${petId} any more`);
    if (stock === before) return { ...same, result: 'unchanged' };
    if (stock !== quantity) return conflict(`the stock is ${stock}, not ${quantity} as it was written`);
    return { ...same, result: 'planned' };
  });
}
