import { type RecordedResult, recordedResults } from '../inventory/run-records.ts';
import { nextResult } from './decide.ts';
import type { Outcome } from './history.ts';
import { recentFor } from './recent-writes.ts';
import { allocateRowSequences, numberOfRow, type TransactionContext, type TransactionSteps } from './state-database.ts';
import { among, number, type Row, type Statement, statement, text, texts, type Value } from './statements.ts';

/**
 * Outcomes that wait to be written, and those that were written but may not be on a disk yet: a database that has crashed since,
 * or another one that has taken over, may lack them, so a new connection writes them again.
 */
export class OutcomeBuffer {
  readonly #waiting = new Map<number, Outcome>();
  /** With the number of the connection that has written each. */
  readonly #unsure = new Map<number, { readonly outcome: Outcome; readonly generation: number }>();

  /** How many rows have an outcome that has not been written. */
  get waiting(): number {
    return this.#waiting.size;
  }

  add(outcomes: readonly Outcome[]): void {
    for (const outcome of outcomes) this.#waiting.set(outcome.row, outcome);
  }

  /** Returns the last outcome of each row that is to be written by a connection. They stay until `written`. */
  take(generation: number): ReadonlyMap<number, Outcome> {
    const again = this.mustRepeat(generation) ? [...this.#unsure.values()] : [];
    return new Map([...again.map(({ outcome }) => [outcome.row, outcome] as const), ...this.#waiting]);
  }

  /**
   * @param taken for a connection
   * @param isDurable whether they are on a disk, and so is all that the same connection had written before
   * @param generation of the connection that said so
   */
  written(taken: ReadonlyMap<number, Outcome>, takenFor: number, isDurable: boolean, generation: number): void {
    for (const [row, outcome] of taken) {
      if (this.#waiting.get(row) === outcome) this.#waiting.delete(row);
      this.#unsure.delete(row);
      if (!isDurable) this.#unsure.set(row, { outcome, generation });
    }
    if (isDurable && takenFor === generation) this.#unsure.clear();
  }

  /** Rows are sent anew: what became of them before must not be written over that. */
  forget(rows: readonly number[]): void {
    for (const row of rows) this.#unsure.delete(row);
  }

  /** Whether a connection has to write again what another one has written. */
  mustRepeat(generation: number): boolean {
    return [...this.#unsure.values()].some((written) => written.generation !== generation);
  }
}

/** A run in the tables, with their numbers of it and of its service. */
export interface RunInTables {
  readonly id: number;
  readonly run: string;
  readonly serviceId: number;
  readonly undoes: string | undefined;
}

/** The number of a run, which it may have only since this round. */
export const runByToken = '(SELECT id FROM petstock.runs WHERE token = ?)';

/** A row of a run goes from one result to another. */
export interface Move {
  readonly row: number;
  readonly from: RecordedResult;
  readonly to: RecordedResult;
}

/** Sums up how many rows of a run have each result, once for a transaction. */
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

/** Selects what `settleRows` has to know. @param token of the run */
export function selectSettled(token: string, outcomes: readonly Outcome[]): Statement {
  const sql = `SELECT row, result, line, after FROM petstock.rows WHERE run = ${runByToken} AND row IN ?*`;
  return among(sql, [token], rowNumbers(outcomes));
}

/** Rows of one run that have become the same. */
interface Alike {
  readonly became: RecordedResult;
  /** The pet stays busy until its request can't arrive any more. */
  readonly isArriving: boolean;
  /** Empty: the stock that the row was to become. */
  readonly quantity: readonly Value[];
  readonly error: string | null;
  readonly outcomes: Outcome[];
}

/**
 * Decides and writes what becomes of rows, and gives their leases back, unless a request may still arrive.
 * @param outcomes one for each row
 * @param loaded rows of `selectSettled`
 * @param takenFrom this process, if another one has the run now
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
    // Most have become what they were to become, and are written together.
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
 * Returns what writes rows that have become the same, and gives their leases back.
 * @param numbers of `allocateRowSequences`
 * @param holder only its leases; undefined: those of the run, whoever has them
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
 * Rows of a run were taken back: each counts once, whoever takes it back first. What such a row had taken back itself is there again.
 * @param isBack the other way round: they were taken back by that run, and no longer are
 */
function* markUndone(
  at: TransactionContext,
  by: string,
  undoes: string,
  rows: readonly number[],
  isBack = false,
): TransactionSteps<void> {
  const [[target] = []] = yield [statement('SELECT id, undoes, undone_by FROM petstock.runs WHERE run = ?', undoes)];
  if (target === undefined) return;
  const id = Number(target.id);
  const [condition, taker] = isBack ? ['= ?', [by]] : ['IS NULL', []];
  const sql = `SELECT row, line FROM petstock.rows WHERE run = ? AND undone_by ${condition} AND row IN ?*`;
  const [known = []] = yield [among(sql, [id, ...taker], rows)];
  const changed = known.map(({ row, line }) => ({ row: Number(row), line: Number(line) }));
  if (changed.length === 0) return;
  const undoneBy = new Set(texts(target.undone_by)).add(by);
  if (isBack) {
    const takenBy = 'SELECT row FROM petstock.rows WHERE run = ? AND undone_by = ? LIMIT ?';
    const [taken = []] = yield [statement(takenBy, id, by, changed.length + 1)];
    if (taken.length === changed.length) undoneBy.delete(by);
  }
  at.writes.push(
    among(
      'UPDATE petstock.rows SET undone_by = ? WHERE run = ? AND row IN ?*',
      [isBack ? null : by, id],
      rowNumbers(changed),
    ),
    statement(
      'UPDATE petstock.runs SET undone = undone + ?, undone_by = ? WHERE id = ?',
      ...[isBack ? -changed.length : changed.length, JSON.stringify([...undoneBy]), id],
    ),
  );
  const before = text(target.undoes);
  const lines = changed.map(({ line }) => line);
  if (before !== undefined) yield* markUndone(at, undoes, before, lines, !isBack);
}
