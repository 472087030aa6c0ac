import type { RowError } from '../inventory/change.ts';
import { ConflictError, FailureError } from '../shared/errors.ts';
import { drawnIn, type HighestNumber, isOlder } from './highest-number.ts';
import type { KnownRow, Outcome } from './history.ts';
import { type RunKey, runIn, selectRun } from './intend-rows.ts';
import type { StateContext } from './presence.ts';
import { countsUpdate, settleRows } from './settle-rows.ts';
import { selectLast, type TransactionContext, type TransactionSteps, uniqueName } from './state-database.ts';
import { type Row, statement } from './statements.ts';

/**
 * An older copy of the state may be put in its place: a backup that is restored, a database server that is set back. It lacks what was written since, so
 * a row that it takes for not sent may have been written.
 */

/** Thrown inside a work that met one. */
export class OlderCopyError extends FailureError {}

/** An older copy does not know whether the same was written before. Nothing was. */
export class RepetitionError extends ConflictError {}

/** @param meta row of `selectLast`. @throws OlderCopyError */
export function requireCurrent(meta: Row | undefined, { database, highest }: StateContext): void {
  if (isOlder(meta, highest)) throw new OlderCopyError(`${database.name} was replaced by an earlier copy`);
}

/**
 * Does what relies on the history. If that meets an older copy, it is settled first, and whoever is there is warned.
 * @param refuse throws if the work must not be done behind that; is given the name that the state has now
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
    const { database, highest, warn } = context;
    const { doubtful, state } = await database.transact('durable', undefined, function* (at) {
      const [[meta] = []] = yield [selectLast];
      // Another process may have been first.
      return isOlder(meta, highest) ? yield* settlingOlder(at, meta, highest) : { doubtful: 0, ...drawnIn(meta) };
    });
    const rows = doubtful === 1 ? '1 row that was not finished was' : `${doubtful} rows that were not finished were`;
    const unclear = doubtful === 0 ? '' : `, and it is not known whether ${rows} written`;
    warn(`${error.message}: its history lacks what was written since${unclear}`);
    refuse?.(state);
    return work();
  }
}

/** How far numbers go on above those that were drawn before, so that none is given out twice. */
const margin = 1_000_000;

const selectOpenRuns = `SELECT id, run, token, service, undoes, holder FROM petstock.runs WHERE pending + unknown > 0 ORDER BY sequence`;
const rowsOf = 'SELECT row, result, line, after, delta, CAST(pet_id AS TEXT) AS pet FROM petstock.rows WHERE run = ?';

/**
 * Settles an older copy, once: rows of its open runs may have been written, so increments become conflicts, and the others unknown until their stock was
 * read. The state gets another name, and its numbers go on above those that were drawn before.
 * @param except the token of a run whose rows are left as they are
 * @returns how many rows may have been written, and the new name
 */
export function* settlingOlder(
  at: TransactionContext,
  meta: Row | undefined,
  highest: HighestNumber,
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
  const raise = Math.max(0, highest.of(before) - drawn) + margin;
  const rename = 'UPDATE petstock.sequence SET last = last + ?, raised = raised + ?, state = ?';
  at.writes.push(statement(rename, raise, raise, state));
  return { doubtful, state };
}

const doubtfulError: RowError = {
  code: 'unclear',
  message:
    'an earlier copy of the state was put in its place, so it is not known whether this row was written: check the stock',
};

function doubtfulOutcome(row: Row): Outcome {
  const result = row.delta === null ? 'unknown' : 'conflict';
  return { row: Number(row.row), petId: BigInt(String(row.pet)), result, error: doubtfulError };
}

/**
 * Writes what the process of a run knows of its rows into an older copy of the state that was put in its place while it ran.
 * @param isWhole it has begun the run: a row of which it knows nothing was never sent
 * @returns false if that copy lacks the run
 */
export function* recovering(
  at: TransactionContext,
  { token }: RunKey,
  known: ReadonlyMap<number, KnownRow>,
  isWhole: boolean,
  highest: HighestNumber,
): TransactionSteps<boolean> {
  const [[meta] = [], [head] = []] = yield [selectLast, statement(selectRun, token)];
  if (isOlder(meta, highest)) yield* settlingOlder(at, meta, highest, token);
  if (head === undefined) return false;
  const run = runIn(head);
  const [rows = []] = yield [statement(rowsOf, run.id)];
  const outcomes = rows.flatMap((row): Outcome[] => {
    const own = known.get(Number(row.row));
    const isOpen = row.result === 'pending' || row.result === 'unknown';
    // Whether an increment without an answer was written is told by the stock that it was added to, which this copy may lack.
    if (own !== undefined) return [own.outcome.result === 'unknown' ? doubtfulOutcome(row) : own.outcome];
    if (!isWhole) return isOpen ? [doubtfulOutcome(row)] : [];
    return isOpen ? [{ row: Number(row.row), petId: BigInt(String(row.pet)), result: 'void' }] : [];
  });
  for (const [row, { rebased }] of known) {
    if (rebased === undefined) continue;
    const sql = 'UPDATE petstock.rows SET before = ?, after = ? WHERE run = ? AND row = ?';
    at.writes.push(statement(sql, rebased.before, rebased.after, run.id, row));
  }
  const moves = yield* settleRows(at, run, outcomes, rows, undefined);
  if (moves.length > 0) at.writes.push(countsUpdate(run.id, moves));
  at.writes.push(statement('UPDATE petstock.runs SET holder = NULL WHERE id = ?', run.id));
  return true;
}
