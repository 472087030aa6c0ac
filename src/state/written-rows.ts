import type { PetWrite } from './history.ts';

/** A row that has written its pet, or may have, with what there is of its run. */
export interface WrittenRow {
  readonly run: string;
  readonly command: string;
  readonly undoes: string | null;
  readonly row: number;
  readonly line: number;
  readonly result: PetWrite['result'];
  readonly quantity: number | null;
  readonly before: number | null;
  readonly after: number;
}

/**
 * Leaves out a write and the undo of it, from the newest on: an undo may itself have been taken back.
 * @param rows the oldest first
 */
export function withoutUndone(rows: readonly WrittenRow[]): PetWrite[] {
  const left = new Set(rows);
  for (const undo of rows.toReversed()) {
    if (undo.undoes === null || undo.result !== 'applied' || !left.has(undo)) continue;
    const undone = rows.find(({ run, row }) => run === undo.undoes && row === undo.line);
    if (undone === undefined || !left.has(undone)) continue;
    left.delete(undo);
    left.delete(undone);
  }
  return [...left].map(petWriteOf);
}

function petWriteOf({ run, command, result, quantity, before, after }: WrittenRow): PetWrite {
  const written = result === 'unknown' ? after : (quantity ?? after);
  return { run, command, result, quantity: written, before: before ?? undefined };
}
