import { type BulkRow, isUnclear } from '../inventory/change.ts';
import { absenceText, counted } from '../inventory/items.ts';
import { possibleWrites, type RecordedRow, type RunRecord } from '../inventory/run-records.ts';
import { UsageError } from '../shared/errors.ts';
import { petstock } from '../shared/hint.ts';
import type { History } from '../state/history.ts';
import { countersOf, lastIntent, otherWriteOf, writtenElsewhere } from '../state/intents.ts';
import type { OtherWrite } from '../state/open-run.ts';
import type { RunContext, RunPlan } from './carry-out.ts';
import { groupByPet, laterWriteText, mayHaveLeft } from './rows.ts';
import { readStockToPlan, type Stock } from './stock.ts';

export interface UndoNote {
  readonly reason?: string | undefined;
  readonly ref?: string | undefined;
}

/** The part of a run that can be undone. */
export interface Undoable {
  readonly petIds: ReadonlySet<bigint>;
  /** Whether some row can't be undone, because the stock before it is not known. */
  readonly isBlind: boolean;
  /** Whether it is certain that none of the rows that were not undone yet has changed a stock. */
  readonly isIdle: boolean;
  /** Number of conflicts that can't be undone, because it is not known whether they were written. */
  readonly unclear: number;
}

export async function undoable(history: History, run: RunRecord): Promise<Undoable> {
  const petIds = new Set<bigint>();
  let [isBlind, isIdle] = [false, true];
  for await (const rows of undoableRows(history, run)) {
    const targets = await targetsOf(history, run, rows);
    for (const [index, { petId, after, quantity = after, result }] of rows.entries()) {
      const target = targets[index];
      if (target === undefined) isBlind = true;
      else petIds.add(petId);
      if (result === 'unknown' || target !== quantity) isIdle = false;
    }
  }
  return { petIds, isBlind, isIdle, unclear: await countUnclearRows(history, run) };
}

/**
 * Explains, as a clause that begins with a verb, which run has written the pets of a run since, if that is certain for
 * all of its changes; otherwise returns undefined.
 */
export async function whyOvertaken(
  { state, history }: Pick<RunContext, 'state' | 'history'>,
  run: RunRecord,
): Promise<string | undefined> {
  let newest: OtherWrite | undefined;
  for await (const rows of undoableRows(history, run)) {
    const later = await writesAfter({ state }, run, rows);
    const targets = await targetsOf(history, run, rows);
    for (const [index, row] of rows.entries()) {
      const written = row.quantity ?? row.after;
      const target = targets[index];
      if (target === undefined || (target === written && row.result !== 'unknown')) continue;
      const write = changing(later(row), written).findLast(({ result }) => result !== 'unknown');
      if (write === undefined) return undefined;
      if (write.intent > (newest?.intent ?? 0)) newest = write;
    }
  }
  return newest && `can't be undone: ${laterWriteText(newest)}`;
}

/** Counts the conflicts of a run that may or may not have been written. */
export async function countUnclearRows(history: History, run: RunRecord): Promise<number> {
  let count = 0;
  if (run.counts.conflict === 0) return count;
  for await (const row of history.rows(run.run, ['conflict'])) if (isUnclear(row)) count += 1;
  return count;
}

export function mayHaveWritten(unclearRows: number): string {
  return `may or may not have written ${counted(unclearRows, 'row')} (check the stock)`;
}

/** Explains why a run can't or need not be undone, as a clause that begins with a verb. */
export function notUndoable({ undoneBy }: RunRecord, { isBlind, petIds, unclear: unclearRows }: Undoable): string {
  if (unclearRows > 0) return mayHaveWritten(unclearRows);
  if (petIds.size > 0) return 'changed nothing';
  if (isBlind) return 'set a stock without reading it first, so the previous value is unknown';
  return undoneBy.length > 0 ? `was already undone by ${undoneBy.join(' and ')}` : 'wrote nothing';
}

/** Returns the part of a run that can be undone. @throws UsageError if there is nothing to undo */
export async function requireUndoable(history: History, run: RunRecord): Promise<Undoable> {
  const found = await undoable(history, run);
  if (found.petIds.size > 0) return found;
  throw new UsageError(`Run ${run.run} can't be undone: it ${notUndoable(run, found)}`, {
    hint: petstock`history show ${run.run}`,
  });
}

/**
 * Plans the undo of a run: reads the stock and compares it with what the run wrote. Leaves out rows that wrote nothing,
 * were undone already, or whose previous stock is not known. Reads the rows of the run again, so that they need not
 * stay in memory while the stock is read.
 * @param note the reason of each row, and the ref of rows without one
 */
export async function planUndo(
  context: RunContext,
  run: RunRecord,
  { petIds }: Undoable,
  note: UndoNote = {},
): Promise<RunPlan> {
  const { history } = context;
  const toBefore = `undo of ${run.run}`;
  const toLastKnown = `${toBefore}, to the last known stock before it`;
  const stock = await readStockToPlan(context, petIds);
  const [counters] = (await context.state.ask([lastIntent(run.service)])).answers;
  const { removed } = countersOf(counters);
  const planned: BulkRow[] = [];
  for await (const rows of undoableRows(history, run)) {
    const later = await writesAfter(context, run, rows);
    const targets = await targetsOf(history, run, rows);
    for (const [index, recorded] of rows.entries()) {
      const target = targets[index];
      if (target === undefined) continue;
      const reason = note.reason ?? (recorded.before === undefined ? toLastKnown : toBefore);
      const isPruned = (recorded.intent ?? 0) < removed;
      const facts = { stock: stock.quantities, laterWrites: later(recorded), isPruned, target, reason, ref: note.ref };
      planned.push(undoRow(recorded, facts));
    }
  }
  return { subject: { command: 'undo', undoes: run.run }, rows: planned, stock };
}

/** Returns, for each row of a run, what other runs have written to its pet since, or may have, oldest first. */
export async function writesAfter(
  { state }: Pick<RunContext, 'state'>,
  run: Pick<RunRecord, 'run' | 'service'>,
  rows: readonly Pick<RecordedRow, 'petId' | 'intent'>[],
): Promise<(row: Pick<RecordedRow, 'petId' | 'intent'>) => readonly OtherWrite[]> {
  const since = Math.min(...rows.map(({ intent = 0 }) => intent));
  const pets = rows.map(({ petId }) => petId);
  const { answers } = await state.ask(writtenElsewhere(run, pets, since));
  const writes = groupByPet(answers.flat().map(otherWriteOf));
  return ({ petId, intent: own = 0 }) => withoutUndone((writes.get(petId) ?? []).filter(({ intent }) => intent > own));
}

/**
 * Removes pairs of a write and its undo, because together they changed nothing. The newest come first, because an undo
 * may itself have been undone.
 * @param writes the oldest first
 */
function withoutUndone(writes: readonly OtherWrite[]): readonly OtherWrite[] {
  const left = new Set(writes);
  for (const undo of writes.toReversed()) {
    if (undo.undoes === undefined || undo.result !== 'applied' || !left.has(undo)) continue;
    const undone = writes.find(({ run, row }) => run === undo.undoes && row === undo.line);
    if (undone === undefined || !left.has(undone)) continue;
    left.delete(undo);
    left.delete(undone);
  }
  return [...left];
}

/** Yields the rows that were or may have been written and are not undone yet, a page at a time. */
async function* undoableRows(history: History, { run }: RunRecord): AsyncGenerator<readonly RecordedRow[], void> {
  for await (const rows of history.pages(run, possibleWrites)) {
    yield rows.filter(({ undoneBy }) => undoneBy === undefined);
  }
}

/**
 * Returns the stock before each row. For a plain set, that is the last stock that the history knew before it; undefined
 * if none is certain.
 */
async function targetsOf(
  history: History,
  { service }: RunRecord,
  rows: readonly RecordedRow[],
): Promise<readonly (number | undefined)[]> {
  const unread = rows.filter(({ before }) => before === undefined);
  const asked = unread.map(({ petId, intent }) => ({ petId, before: intent }));
  const known = await history.lastKnown(service, asked);
  return rows.map(({ before, petId }) => before ?? known.get(petId));
}

/** The facts that the undo of a row depends on, besides the row itself. */
export interface UndoInput extends UndoNote {
  readonly stock: Stock['quantities'];
  /** What other runs have written to the pet since, oldest first. */
  readonly laterWrites: readonly OtherWrite[];
  /** Whether later writes may have been removed from the history. */
  readonly isPruned?: boolean;
  /** The stock before the row was written. */
  readonly target: number;
}

/**
 * Plans the undo of a row: unchanged if the pet already has its earlier stock; otherwise a conflict unless the stock is
 * still what the row wrote and no other run has changed it since. `line` is the number of the row in the undone run.
 * `delta` is set for a conflict if the applied row and all later writes added deltas: adding this number undoes the
 * row.
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

function conflictOf(
  recorded: RecordedRow,
  { stock, laterWrites, isPruned = false, target }: UndoInput,
): string | undefined {
  const { petId, after } = recorded;
  const found = stock.get(petId);
  if (found === undefined) return absenceText(stock, petId);
  if (found === target) return undefined;
  const written = recorded.quantity ?? after;
  const later = changing(laterWrites, written).findLast((write) => found !== written || mayHaveLeft(write, found));
  if (later !== undefined) return laterWriteText(later);
  if (isPruned) return 'a run that was removed from the history may have written the stock since';
  return found === written ? undefined : `the stock is ${found}, not ${written} as written`;
}

/**
 * Returns the writes that changed the stock, or may have. A write that did not read the stock is assumed to have found
 * what was written before it.
 * @param written the stock written by the row; later writes follow, oldest first
 */
function changing(writes: readonly OtherWrite[], written: number): readonly OtherWrite[] {
  let known: number | undefined = written;
  return writes.filter(({ result, before = known, quantity }) => {
    known = result === 'unknown' ? undefined : quantity;
    return result !== 'applied' || before !== quantity;
  });
}
