import { type RowError, unclear } from '../inventory/change.ts';
import type { RecordedRow } from '../inventory/run-records.ts';
import { ConflictError, FailureError } from '../shared/errors.ts';
import type { NewRun } from './begin-run.ts';
import type { KnownRows, Outcome } from './intents-and-outcomes.ts';
import { countsUpdate, type RunKey, runIn, selectRun, settleRows } from './settle-rows.ts';
import type { StateContext } from './state-context.ts';
import {
  readWithoutLock,
  type StateDatabase,
  selectLast,
  type TransactionContext,
  type TransactionSteps,
  uniqueName,
} from './state-database.ts';
import { drawnIn, margin, type RunContent, type StateNotes } from './state-notes.ts';
import { type Row, statement } from './statements.ts';

/**
 * Detection and repair of an older copy of the state: a restored backup, or a database server that was set back. The
 * copy lacks the latest writes, so a row that it considers unsent may have been written.
 */

/** Thrown within a transaction that meets an older copy. */
export class OlderCopyError extends FailureError {}

/**
 * Thrown if the state was replaced, so that it can't tell whether the same content was already written. Nothing was
 * written.
 */
export class RepetitionError extends ConflictError {}

/**
 * Reports whether the state is an older copy: it lacks sequence numbers that this machine has noted.
 * @param meta the row of `selectLast`
 */
export function* isOlder(meta: Row | undefined, notes: StateNotes): TransactionSteps<boolean> {
  const { state, drawn } = drawnIn(meta);
  const noted = notes.highestOf(state);
  if (drawn >= noted) return false;
  // Another process may have committed since the row was read, and noted its number.
  const [[now] = []] = yield [selectLast];
  return drawnIn(now).state !== state || drawnIn(now).drawn < noted;
}

/** Returns the name of the state, and whether it is an older copy. */
export function standingOf({
  database,
  notes,
}: StateContext): Promise<{ readonly state: string; readonly isOld: boolean }> {
  return readWithoutLock(database, function* () {
    const [[meta] = []] = yield [selectLast];
    return { state: drawnIn(meta).state, isOld: yield* isOlder(meta, notes) };
  });
}

/** Returns the first sentence of the warning that the state is an older copy. */
export function olderText({ name }: Pick<StateDatabase, 'name'>): string {
  return `${name} was replaced by an earlier copy: its history lacks later writes`;
}

/**
 * @param meta the row of `selectLast`
 * @throws OlderCopyError if the state is an older copy
 */
export function* requireCurrent(meta: Row | undefined, { database, notes }: StateContext): TransactionSteps<undefined> {
  if (yield* isOlder(meta, notes)) throw new OlderCopyError(olderText(database));
  return undefined;
}

/**
 * Runs an operation that relies on the history. If it meets an older copy, marks the copy's open rows as doubtful,
 * warns, and runs the operation again.
 * @param refuse throws if the operation must not run on the older copy; receives the new name of the state
 */
export async function onCurrentState<Result>(
  context: StateContext,
  work: () => Promise<Result>,
  refuse?: (state: string) => void,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof OlderCopyError)) throw error;
    const { database, notes, warn } = context;
    const { doubtful, state } = await database.transact('durable', undefined, function* (at) {
      const [, [meta] = []] = yield [lockSequence, selectLast];
      // Another process may have repaired the copy first.
      const isOld = yield* isOlder(meta, notes);
      return isOld ? yield* settleOlder(at, meta, notes) : { doubtful: 0, ...drawnIn(meta) };
    });
    const rows = doubtful === 1 ? '1 unfinished row was' : `${doubtful} unfinished rows were`;
    const unclear = doubtful === 0 ? '' : `. It is not known whether ${rows} written`;
    warn(`${error.message}${unclear}`);
    refuse?.(state);
    return work();
  }
}

/** Locks the state, so that no two processes settle the same copy at once. */
const lockSequence = statement('UPDATE petstock.sequence SET last = last');

/**
 * Refuses to repeat content in a state that lacks later writes.
 * @throws RepetitionError for a file of deltas, a count or an undo, because it may already have been carried out
 */
export function refuseRepetition({ database }: StateContext, content: RunContent): void {
  const { contentHash, hasDeltas, undoes } = content;
  const file = content.file === '-' ? 'this input' : (content.file ?? 'the count');
  if ((contentHash ?? undoes) === undefined || hasDeltas === false) return;
  const [what, done] = undoes === undefined ? [file, 'applied'] : [`run ${undoes}`, 'undone'];
  throw new RepetitionError(
    `${database.name} was replaced by an earlier copy or a new state. It is not known whether ${what} was already ${done}. Nothing was written. Check the stock. If ${what} was not ${done}, run the command again`,
    { hint: 'petstock history list' },
  );
}

/** Like `refuseRepetition`, but notes the content, so that it is accepted when the user runs the command again. */
export function refuseRepetitionOnce(context: StateContext, content: RunContent, state: string): void {
  context.notes.noteBegun(content, state);
  refuseRepetition(context, content);
}

/**
 * @throws RepetitionError, once, if this machine has begun the content in another state (such as one before an older
 * copy) and the history lacks it
 */
export function requireNew(context: StateContext, { head, follows }: NewRun, state: string): void {
  const known = context.notes.stateOf(head);
  if (known !== undefined && known !== state && follows?.run === undefined) refuseRepetitionOnce(context, head, state);
}

const selectOpenRuns = `SELECT id, run, token, service, undoes, holder FROM petstock.runs WHERE pending + unknown > 0 ORDER BY sequence`;
const rowsOf = 'SELECT row, result, line, after, delta, CAST(pet_id AS TEXT) AS pet FROM petstock.rows WHERE run = ?';

/**
 * Marks the open rows of an older copy as doubtful, once, since they may have been written: rows with a delta become
 * conflicts, the others unknown until their stock is read. The state gets a new name, and its sequence numbers continue
 * above those already allocated.
 * @param except the token of a run whose rows are left alone
 * @returns how many rows may have been written, and the new name
 */
function* settleOlder(
  at: TransactionContext,
  meta: Row | undefined,
  notes: StateNotes,
  except?: string,
): TransactionSteps<{ readonly doubtful: number; readonly state: string }> {
  const [runs = []] = yield [statement(selectOpenRuns)];
  let doubtful = 0;
  for (const head of runs.filter(({ token }) => token !== except)) {
    const run = runIn(head);
    const [rows = []] = yield [statement(`${rowsOf} AND result IN ('pending', 'unknown')`, run.id)];
    const moves = yield* settleRows(at, run, rows.map(doubtfulOutcome), rows, undefined);
    doubtful += rows.length;
    if (moves.length > 0) at.writes.push(countsUpdate(run.id, moves));
  }
  const { state: before, drawn } = drawnIn(meta);
  const state = uniqueName();
  const raise = Math.max(0, notes.highestOf(before) - drawn) + margin;
  const rename = 'UPDATE petstock.sequence SET last = last + ?, raised = raised + ?, state = ?';
  at.writes.push(statement(rename, raise, raise, state));
  return { doubtful, state };
}

const doubtfulError: RowError = {
  code: unclear,
  message:
    'the state was replaced by an earlier copy, so it is not known whether this row was written: check the stock',
};

/** Returns a row of an open run in an older copy as `settleOlder` will leave it, for display. */
export function doubtfulRow<Shown extends RecordedRow>(row: Shown): Shown {
  if (row.result !== 'pending' && row.result !== 'unknown') return row;
  return { ...row, result: row.delta === undefined ? 'unknown' : 'conflict', error: doubtfulError };
}

function doubtfulOutcome(row: Row): Outcome {
  const result = row.delta === null ? 'unknown' : 'conflict';
  return { row: Number(row.row), petId: BigInt(String(row.pet)), result, error: doubtfulError };
}

/** Writes what a process knows about its rows into the state that has replaced the run's state. */
export function recover({ database, notes }: StateContext, run: RunKey, known: KnownRows): Promise<void> {
  return database.transact('durable', run.serviceName, (at) => recoverRows(at, run, known, notes));
}

function* recoverRows(
  at: TransactionContext,
  { token }: RunKey,
  { outcomes, rebased, isWhole }: KnownRows,
  notes: StateNotes,
): TransactionSteps<void> {
  const [, [meta] = [], [head] = []] = yield [lockSequence, selectLast, statement(selectRun, token)];
  if (yield* isOlder(meta, notes)) yield* settleOlder(at, meta, notes, token);
  if (head === undefined) return;
  const run = runIn(head);
  const [rows = []] = yield [statement(rowsOf, run.id)];
  const recovered = rows.flatMap((row): Outcome[] => {
    const own = outcomes.get(Number(row.row));
    // Whether an unanswered delta was written can only be decided from the stock that it was added to, and this copy
    // may lack that stock.
    if (own !== undefined) return [own.result === 'unknown' ? doubtfulOutcome(row) : own];
    if (row.result !== 'pending' && row.result !== 'unknown') return [];
    if (!isWhole) return [doubtfulOutcome(row)];
    return [{ row: Number(row.row), petId: BigInt(String(row.pet)), result: 'void' }];
  });
  for (const [row, { before, after }] of rebased) {
    const sql = 'UPDATE petstock.rows SET before = ?, after = ? WHERE run = ? AND row = ?';
    at.writes.push(statement(sql, before, after, run.id, row));
  }
  const moves = yield* settleRows(at, run, recovered, rows, undefined);
  if (moves.length > 0) at.writes.push(countsUpdate(run.id, moves));
  at.writes.push(statement('UPDATE petstock.runs SET holder = NULL WHERE id = ?', run.id));
}
