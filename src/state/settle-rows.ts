import { type RecordedResult, recordedResults } from '../inventory/run-records.ts';
import { nextResult } from './decide.ts';
import type { Outcome } from './intents-and-outcomes.ts';
import { recentFor } from './recent-writes.ts';
import { allocateRowSequences, numberOfRow, type TransactionContext, type TransactionSteps } from './state-database.ts';
import { among, number, type Row, type Statement, statement, text, texts, type Value } from './statements.ts';

/** Identifies a run for the process that writes it. The token is chosen by the call that begins the run. */
export interface RunKey {
  readonly token: string;
  readonly serviceName: string;
}

/** A run with the numbers that the tables use for it and for its service. */
export interface RunInTables {
  readonly id: number;
  readonly run: string;
  readonly serviceId: number;
  readonly undoes: string | undefined;
}

export const selectRun = 'SELECT id, run, service, undoes, holder FROM petstock.runs WHERE token = ?';

/** Returns the run in a row of `selectRun`. */
export function runIn({ id, run, service, undoes }: Row): RunInTables {
  return { id: number(id) ?? 0, run: String(run), serviceId: number(service) ?? 0, undoes: text(undoes) };
}

/** The number of a run by its token. The run may have been inserted in the same batch. */
export const runByToken = '(SELECT id FROM petstock.runs WHERE token = ?)';

export interface Move {
  readonly row: number;
  readonly from: RecordedResult;
  readonly to: RecordedResult;
}

/** Returns the statement that updates a run's counts per result, and `touched`. Call this once per transaction. */
export function countsUpdate(run: number, moves: readonly Move[]): Statement {
  const changes = new Map<RecordedResult, number>();
  for (const { from, to } of moves) {
    changes.set(from, (changes.get(from) ?? 0) - 1);
    changes.set(to, (changes.get(to) ?? 0) + 1);
  }
  const changed = recordedResults.filter((result) => changes.get(result));
  const sets = changed.map((result) => `${result} = ${result} + ?, `).join('');
  const sql = `UPDATE petstock.runs SET ${sets}touched = (SELECT last FROM petstock.sequence) WHERE id = ?`;
  return statement(sql, ...changed.map((result) => changes.get(result) ?? 0), run);
}

export const rowNumbers = (items: readonly { readonly row: number }[]) => items.map(({ row }) => row);

/** Selects the rows that `settleRows` needs. */
export function selectSettled(token: string, outcomes: readonly Outcome[]): Statement {
  const sql = `SELECT row, result, line, after FROM petstock.rows WHERE run = ${runByToken} AND row IN ?*`;
  return among(sql, [token], rowNumbers(outcomes));
}

/** Rows of one run that one statement updates, because they get the same values. */
interface Alike {
  readonly became: RecordedResult;
  /** Whether a request may still be in flight. The pets then stay locked until it no longer can be. */
  readonly isArriving: boolean;
  /** The stock, as the only item; empty if it is the planned one. */
  readonly quantity: readonly Value[];
  readonly error: string | null;
  readonly outcomes: Outcome[];
}

/**
 * Decides the new results of rows, writes them, and releases their leases unless a request may still be in flight. If
 * the run is an undo, also marks the rows that it has undone.
 * @param outcomes one per row
 * @param loaded rows of `selectSettled`; outcomes of other rows are ignored
 * @param takenFrom the id of this process, if another one has taken the run over
 */
export function* settleRows(
  at: TransactionContext,
  run: RunInTables,
  outcomes: readonly Outcome[],
  loaded: readonly Row[],
  takenFrom: string | undefined,
): TransactionSteps<Move[]> {
  const moves: Move[] = [];
  const alike = new Map<string, Alike>();
  const undone: number[] = [];
  const known = new Map(loaded.map((row) => [Number(row.row), row]));
  for (const outcome of outcomes) {
    const row = known.get(outcome.row);
    if (row === undefined) continue;
    const from = String(row.result) as RecordedResult;
    const became = nextResult(from, outcome.result, takenFrom !== undefined);
    if (became === undefined) continue;
    moves.push({ row: outcome.row, from, to: became });
    const error = outcome.error === undefined ? null : JSON.stringify(outcome.error);
    const isArriving = became === 'unknown' || outcome.mayBeInFlight === true;
    // Most rows have the planned stock and are written together.
    const isAsWanted = outcome.quantity !== undefined && outcome.quantity === number(row.after);
    const quantity = isAsWanted ? [] : [outcome.quantity ?? null];
    const key = `${became} ${isArriving} ${quantity.length} ${quantity} ${error}`;
    const group = alike.get(key) ?? { became, isArriving, quantity, error, outcomes: [] };
    group.outcomes.push(outcome);
    alike.set(key, group);
    if (became === 'applied') undone.push(Number(row.line));
  }
  if (moves.length === 0) return moves;
  const numbers = allocateRowSequences(at, moves);
  for (const group of alike.values()) at.writes.push(...writesOf(at, run, group, numbers, takenFrom));
  if (run.undoes !== undefined && undone.length > 0) yield* markUndone(at, run.run, run.undoes, undone);
  return moves;
}

/**
 * Returns the statements that write rows with the same new result and release their leases.
 * @param numbers the result of `allocateRowSequences`
 * @param holder the process whose leases are released; undefined to release those of the run, whoever holds them
 */
function writesOf(
  at: TransactionContext,
  run: RunInTables,
  group: Alike,
  numbers: number,
  holder?: string,
): Statement[] {
  const { became, isArriving, quantity, error, outcomes } = group;
  const sum = quantity.length === 0 ? 'after' : '?';
  const isWritten = became === 'applied' || became === 'differs';
  const [until, recent] = isWritten ? ['boot = ?, expires = ?, ', [at.boot, at.now + recentFor]] : ['', []];
  const settle = `UPDATE petstock.rows SET ${until}result = ?, quantity = ${sum}, error = ?, at = ?, touched = ${numberOfRow} WHERE run = ? AND row IN ?*`;
  const release = isArriving ? 'UPDATE petstock.leases SET holder = NULL' : 'DELETE FROM petstock.leases';
  const [ofHolder, holders] = holder === undefined ? ['', []] : [' AND holder = ?', [holder]];
  const lease = `${release} WHERE service = ? AND owner = ?${ofHolder} AND pet_id IN ?*`;
  return [
    among(settle, [...recent, became, ...quantity, error, Math.round(at.wall), numbers, run.id], rowNumbers(outcomes)),
    among(
      lease,
      [run.serviceId, run.run, ...holders],
      outcomes.map(({ petId }) => petId),
    ),
  ];
}

/**
 * Marks rows of a run as undone; each counts once, by the first run that undoes it. If that run was itself an undo, the
 * rows that it had undone count as written again.
 * @param isReverted marks the rows as no longer undone by that run instead
 */
function* markUndone(
  at: TransactionContext,
  by: string,
  undoes: string,
  rows: readonly number[],
  isReverted = false,
): TransactionSteps<void> {
  const [[target] = []] = yield [statement('SELECT id, undoes, undone_by FROM petstock.runs WHERE run = ?', undoes)];
  if (target === undefined) return;
  const id = Number(target.id);
  const [condition, taker] = isReverted ? ['= ?', [by]] : ['IS NULL', []];
  const sql = `SELECT row, line FROM petstock.rows WHERE run = ? AND undone_by ${condition} AND row IN ?*`;
  const [known = []] = yield [among(sql, [id, ...taker], rows)];
  const changed = known.map(({ row, line }) => ({ row: Number(row), line: Number(line) }));
  if (changed.length === 0) return;
  const undoneBy = new Set(texts(target.undone_by)).add(by);
  if (isReverted) {
    const takenBy = 'SELECT row FROM petstock.rows WHERE run = ? AND undone_by = ? LIMIT ?';
    const [taken = []] = yield [statement(takenBy, id, by, changed.length + 1)];
    if (taken.length === changed.length) undoneBy.delete(by);
  }
  at.writes.push(
    among(
      'UPDATE petstock.rows SET undone_by = ? WHERE run = ? AND row IN ?*',
      [isReverted ? null : by, id],
      rowNumbers(changed),
    ),
    statement(
      'UPDATE petstock.runs SET undone = undone + ?, undone_by = ? WHERE id = ?',
      ...[isReverted ? -changed.length : changed.length, JSON.stringify([...undoneBy]), id],
    ),
  );
  const before = text(target.undoes);
  const lines = changed.map(({ line }) => line);
  if (before !== undefined) yield* markUndone(at, undoes, before, lines, !isReverted);
}
