import type { BulkRow } from '../inventory/change.ts';
import { absenceText } from '../inventory/items.ts';
import { PetIdSet, type PetIds } from '../inventory/pet-id-set.ts';
import type { LaterWrite, RecordedRow, RunRecord } from '../inventory/run-records.ts';
import { UsageError } from '../shared/errors.ts';
import { petstock } from '../shared/hint.ts';
import type { State } from '../state/state.ts';
import { laterWriteMessage, mayBeWritten, type UnansweredRow } from '../writes/verdict.ts';
import type { RunPlan } from './execute.ts';
import type { RunContext } from './run-context.ts';
import { StockReader } from './stock-reader.ts';

type Recorded = Pick<State, 'history' | 'petWrites'>;

/** For the history. */
export interface UndoNote {
  readonly reason?: string | undefined;
  readonly ref?: string | undefined;
}

/** The part of a run that can be taken back. */
export interface Undoable {
  /** Of the rows that can be taken back. */
  readonly petIds: PetIds;
  /** Some row can't be, since it is not known what the stock was before. */
  readonly isBlind: boolean;
  /** No row has changed a stock, as far as is known. */
  readonly isIdle: boolean;
}

export async function undoable(state: Recorded, run: RunRecord): Promise<Undoable> {
  const petIds = new PetIdSet();
  let [isBlind, isIdle] = [false, true];
  for await (const rows of undoableRows(state, run)) {
    const targets = await targetsOf(state, run, rows);
    for (const [index, { petId, after, quantity = after, result }] of rows.entries()) {
      const target = targets[index];
      if (target === undefined) isBlind = true;
      else petIds.add(petId);
      if (result === 'unknown' || target !== quantity) isIdle = false;
    }
  }
  return { petIds, isBlind, isIdle };
}

/** Returns why a run can't be taken back, or need not be: a clause that begins with a verb. */
export function notUndoable({ undoneBy }: RunRecord, { isBlind, petIds }: Undoable): string {
  if (petIds.size > 0) return 'has changed nothing';
  if (isBlind)
    return 'set a stock without reading it first, so the previous value is unknown (use inventory set --read-first)';
  return undoneBy.length > 0 ? `was already undone by ${undoneBy.join(' and ')}` : 'has written nothing';
}

/** The same. @throws UsageError if there is nothing to take back */
export async function requireUndoable(state: Recorded, run: RunRecord): Promise<Undoable> {
  const found = await undoable(state, run);
  if (found.petIds.size > 0) return found;
  throw new UsageError(`Run ${run.run} can't be undone: it ${notUndoable(run, found)}`, {
    hint: petstock`history show ${run.run}`,
  });
}

/**
 * Plans what undoes a run, given the stock now. A row of which it is not known what was there before is left out. The rows of the
 * run are read once more, so that they need not be held while the stock is read.
 * @param note its reason is that of each row, its ref that of rows without one
 */
export async function planUndo(
  context: RunContext,
  run: RunRecord,
  { petIds }: Undoable,
  note: UndoNote = {},
): Promise<RunPlan> {
  const { state } = context;
  const toBefore = `undo of ${run.run}`;
  const toLastKnown = `${toBefore}, to the last stock in the history`;
  const { quantities, readVersion, readAt } = await new StockReader(context).readAfterInFlight(petIds);
  const planned: BulkRow[] = [];
  for await (const rows of undoableRows(state, run)) {
    const later = await state.petWrites.after(run, rows);
    const targets = await targetsOf(state, run, rows);
    for (const [index, recorded] of rows.entries()) {
      const target = targets[index];
      if (target === undefined) continue;
      const reason = note.reason ?? (recorded.before === undefined ? toLastKnown : toBefore);
      const facts = { stock: quantities, laterWrites: later[index] ?? [], target, reason, ref: note.ref };
      planned.push(undoRow(recorded, facts));
    }
  }
  return { subject: { command: 'undo', undoes: run.run }, rows: planned, stock: { readVersion, readAt } };
}

/** Yields the rows that have written something, or may have, and were not undone yet, a page at a time. */
async function* undoableRows({ history }: Recorded, { run }: RunRecord): AsyncGenerator<readonly RecordedRow[], void> {
  for await (const rows of history.pages(run, ['applied', 'differs', 'unknown'])) {
    yield rows.filter(({ undoneBy }) => undoneBy === undefined);
  }
}

/** Returns the stock before each row; of a plain set, the one that the history knew then. */
async function targetsOf(
  { petWrites }: Recorded,
  { serviceName }: RunRecord,
  rows: readonly RecordedRow[],
): Promise<readonly (number | undefined)[]> {
  const unread = rows.filter(({ before }) => before === undefined);
  const asked = unread.map(({ petId, sequence }) => ({ petId, before: sequence }));
  const known = await petWrites.lastKnown(serviceName, asked);
  const remembered = new Map(unread.map((row, index) => [row, known[index]]));
  return rows.map((row) => row.before ?? remembered.get(row));
}

/** The facts about a row that is to be undone. */
export interface UndoInput extends Pick<UnansweredRow, 'stock' | 'laterWrites'>, UndoNote {
  /** The stock before the row. */
  readonly target: number;
}

/**
 * Returns what undoes a row: only if the stock is still what the row wrote, and no other run has changed it since. The
 * `line` is the number of the row in the run. A conflict that an increment would settle has it as its `delta`.
 */
export function undoRow(recorded: RecordedRow, facts: UndoInput): BulkRow {
  const { row: line, petId, ref = facts.ref } = recorded;
  const { target, laterWrites, reason } = facts;
  const stock = facts.stock.get(petId);
  const message = conflictOf(recorded, facts);
  const result = message !== undefined ? 'conflict' : stock === target ? 'unchanged' : 'planned';
  const error = message === undefined ? undefined : { code: 'conflict', message };
  const isSettled = result === 'conflict' && recorded.result === 'applied' && stock !== undefined;
  const isOwed = isSettled && recorded.delta !== undefined && laterWrites.every((write) => write.delta !== undefined);
  const delta = isOwed ? -(recorded.delta ?? 0) : undefined;
  return { line, petId, before: stock, after: target, delta, result, error, reason, ref };
}

function conflictOf(recorded: RecordedRow, { stock, laterWrites, target }: UndoInput): string | undefined {
  const { petId, after } = recorded;
  const found = stock.get(petId);
  if (found === undefined) return absenceText(stock, petId);
  if (found === target) return undefined;
  const written = recorded.quantity ?? after;
  const later = changing(laterWrites, written).findLast((write) => found !== written || mayBeWritten(write, found));
  if (later !== undefined) return laterWriteMessage(later);
  return found === written ? undefined : `the stock is ${found}, not ${written} as it was written`;
}

/**
 * Leaves out writes that left the stock as it was. One that has not read it is taken to have found what was written before it.
 * @param written by the row before them, the oldest first
 */
function changing(writes: readonly LaterWrite[], written: number): readonly LaterWrite[] {
  let known: number | undefined = written;
  return writes.filter(({ result, before = known, quantity }) => {
    known = result === 'unknown' ? undefined : quantity;
    return result !== 'applied' || before !== quantity;
  });
}
