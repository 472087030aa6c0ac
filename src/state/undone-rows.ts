/** A written row of a run that undoes another run. */
export interface UndoingRow {
  readonly run: string;
  readonly row: number;
  /** The run that is undone, and the number of its row. */
  readonly undoes: string;
  readonly undoneRow: number;
}

/** For each run, the rows that were undone, with the run that has undone each. */
export type UndoneRows = ReadonlyMap<string, ReadonlyMap<number, string>>;

/**
 * Returns which rows are undone now. The undo of an undo makes a change again: then the row that was undone first is no
 * longer undone.
 * @param rows those of all runs that undo the runs in question, or each other, in the order of their runs
 */
export function undoneRows(rows: readonly UndoingRow[]): UndoneRows {
  const undone = new Map<string, Map<number, string>>();
  // The newest first: whether an undo holds is decided by later runs.
  for (const { run, row, undoes, undoneRow } of rows.toReversed()) {
    if (undone.get(run)?.has(row)) continue;
    const ofRun = undone.get(undoes) ?? new Map<number, string>();
    undone.set(undoes, ofRun.set(undoneRow, run));
  }
  return undone;
}
