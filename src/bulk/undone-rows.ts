import type { RecordedRow, RecordedRun } from '../history/records.ts';
import type { BulkRow, RowError } from '../inventory/change.ts';

/** The rows of a run that may have been written, and have not been taken back. */
export function rowsToUndo({ rows }: RecordedRun, undone: ReadonlyMap<number, string>): readonly RecordedRow[] {
  return rows.filter(({ row, state }) => (state === 'applied' || state === 'open') && !undone.has(row));
}

/**
 * A plan that takes rows back, given the stock as it is now: only where that is still what the run wrote. The `line` of
 * each row is the number of the row in the run.
 */
export function undoRows(
  recorded: RecordedRun,
  rows: readonly RecordedRow[],
  stockOf: (petId: bigint) => number | undefined,
): readonly BulkRow[] {
  return rows.map(({ row, petId, before, after, quantity = after, ref }) => {
    const stock = stockOf(petId);
    const same = { line: row, petId, before: stock, after: before, reason: `undo of ${recorded.run}`, ref };
    const refuse = (result: 'failed' | 'conflict', error: RowError): BulkRow => ({ ...same, result, error });
    if (stock === undefined) {
      return refuse('conflict', { code: 'conflict', message: `there is no pet ${petId} any more` });
    }
    if (before === undefined) {
      const message = 'the stock before was not read when it was set, so there is nothing to go back to';
      return refuse('failed', { code: 'before_unknown', message });
    }
    if (stock === before) return { ...same, result: 'unchanged' };
    if (stock !== quantity) {
      return refuse('conflict', {
        code: 'conflict',
        message: `the stock is ${stock}, not ${quantity} as it was written`,
      });
    }
    return { ...same, result: 'planned' };
  });
}
