import { PetIdSet } from '../inventory/pet-id-set.ts';
import { absenceText, type Quantities } from '../inventory/pet-quantities.ts';
import { RowColumns } from '../inventory/row-columns.ts';
import { UsageError } from '../shared/errors.ts';
import type { History, RecordedRow, RunRecord } from '../state/history.ts';
import { inPages } from './in-pages.ts';
import { isUndoable, undoRow } from './undo-rows.ts';

type UndoHistory = Pick<History, 'rows' | 'lastKnownQuantities' | 'writesAfter'>;

/**
 * The pets of the rows that can be taken back.
 * @throws UsageError where no row can be taken back
 */
export async function undoablePets(history: UndoHistory, run: RunRecord): Promise<PetIdSet> {
  const petIds = new PetIdSet();
  let isBlind = false;
  for await (const page of inPages(history.rows(run.run))) {
    const undoable = page.filter(isUndoable);
    const lastKnown = await lastKnownOf(history, run, undoable);
    for (const { row, petId } of undoable) {
      if (lastKnown.get(row) === undefined) isBlind = true;
      else petIds.add(petId);
    }
  }
  if (petIds.size === 0) throw nothingToUndo(run, isBlind);
  return petIds;
}

/** @returns by row what was there before it: of a plain set, what the history knew then */
async function lastKnownOf(
  history: UndoHistory,
  { service }: RunRecord,
  rows: readonly RecordedRow[],
): Promise<ReadonlyMap<number, number | undefined>> {
  const unread = rows.filter(({ before }) => before === undefined);
  const known = await history.lastKnownQuantities(
    service,
    unread.map(({ petId, sequence }) => ({ petId, before: sequence })),
  );
  const remembered = unread.map(({ row }, index) => [row, known[index]] as const);
  return new Map([...rows.map(({ row, before }) => [row, before] as const), ...remembered]);
}

function nothingToUndo({ run, undoneBy }: RunRecord, isBlind: boolean): UsageError {
  const why = isBlind
    ? 'set a stock without reading it, so it is not known what it was (inventory set --read-first reads it first)'
    : undoneBy.length > 0
      ? `was taken back already, by ${undoneBy.join(' and ')}`
      : 'has written nothing';
  return new UsageError(`There is nothing to take back: run ${run} ${why}`, { hint: `petstock history show ${run}` });
}

/**
 * What takes each row back, given the stock now. A row of which it is not known what was there before is left out. The rows
 * of the run are read once more, so that they need not be held while the stock is read.
 */
export async function planUndo(history: UndoHistory, run: RunRecord, stock: Quantities): Promise<RowColumns> {
  const rows = new RowColumns();
  for await (const page of inPages(history.rows(run.run))) {
    const undoable = page.filter(isUndoable);
    const later = await history.writesAfter(run, undoable);
    const known = await lastKnownOf(history, run, undoable);
    for (const [index, recorded] of undoable.entries()) {
      const lastKnown = known.get(recorded.row);
      if (lastKnown === undefined) continue;
      const absence = absenceText(stock, recorded.petId);
      const facts = { stock: stock.get(recorded.petId), absence, laterWrites: later[index] ?? [], lastKnown };
      const row = undoRow(run.run, recorded, facts);
      if (row !== undefined) rows.push(row);
    }
  }
  return rows;
}
