import type { BulkRow } from '../inventory/change.ts';
import { UsageError } from '../shared/errors.ts';
import type { History, RecordedRow, RunRecord } from '../state/history.ts';
import { isUndoable, undoRow } from './undo-rows.ts';

/** A row that has written something, or may have. */
export interface UndoableRow {
  readonly recorded: RecordedRow;
  /** What the history knew of the stock before a plain set. */
  readonly lastKnown: number | undefined;
}

/** @throws UsageError where no row can be taken back */
export async function undoableRows(
  history: Pick<History, 'rows' | 'lastKnownQuantity'>,
  run: RunRecord,
): Promise<readonly UndoableRow[]> {
  const rows: UndoableRow[] = [];
  let isBlind = false;
  for await (const recorded of history.rows(run.run)) {
    if (!isUndoable(recorded)) continue;
    const { before, petId, sequence } = recorded;
    const lastKnown = before ?? (await history.lastKnownQuantity(run.service, petId, sequence));
    if (lastKnown === undefined) isBlind = true;
    else rows.push({ recorded, lastKnown });
  }
  if (rows.length === 0) throw nothingToUndo(run, isBlind);
  return rows;
}

function nothingToUndo({ run, undoneBy }: RunRecord, isBlind: boolean): UsageError {
  const why = isBlind
    ? 'set a stock without reading it, so it is not known what it was (`inventory set --read-first` reads it)'
    : undoneBy.length > 0
      ? `was taken back already, by ${undoneBy.join(' and ')}`
      : 'has written nothing';
  return new UsageError(`There is nothing to take back: run ${run} ${why}`, { hint: `petstock history show ${run}` });
}

/** What takes each row back, given the stock now. A row of which it is not known what was there before is left out. */
export async function planUndo(
  history: Pick<History, 'writesAfter'>,
  run: RunRecord,
  undoable: readonly UndoableRow[],
  stock: ReadonlyMap<bigint, number>,
): Promise<readonly BulkRow[]> {
  const rows: BulkRow[] = [];
  for (const { recorded, lastKnown } of undoable) {
    const { petId, sequence } = recorded;
    const laterWrites = await history.writesAfter({
      service: run.service,
      petId,
      run: run.run,
      sequence,
    });
    const row = undoRow(run.run, recorded, { stock: stock.get(petId), laterWrites, lastKnown });
    if (row !== undefined) rows.push(row);
  }
  return rows;
}
