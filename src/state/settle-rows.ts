import { settledAs } from './decide.ts';
import type { Outcome, RecordedResult } from './history.ts';
import { recordedResults } from './recorded-results.ts';
import { type Answers, drawnNumber, type Moment, number, type Row, type Statement, statement, text } from './store.ts';

/** A run in the tables. */
export interface BegunRun {
  /** Its number in the tables. */
  readonly id: number;
  readonly run: string;
  /** The service by its number and its name. */
  readonly service: number;
  readonly serviceName: string;
  readonly undoes: string | undefined;
}

/** What settling rows has changed, and what it has still to write. */
export interface Settled {
  /** What each of the rows has become. */
  readonly results: ReadonlyMap<number, RecordedResult>;
  readonly counts: CountChanges;
  /** Writes, each given the number that it draws, if it draws one. */
  readonly writes: (Statement | Numbered)[];
}

/** A statement that draws a number: `values` are given how many are left to be drawn after it. */
export interface Numbered {
  readonly sql: string;
  values(left: number): Statement['values'];
}

/** How many rows of a run move from one result to another, summed once for a transaction. */
export class CountChanges {
  readonly #changes = new Map<RecordedResult, number>();

  move(from: RecordedResult, to: RecordedResult): void {
    if (from === to) return;
    this.#changes.set(from, (this.#changes.get(from) ?? 0) - 1);
    this.#changes.set(to, (this.#changes.get(to) ?? 0) + 1);
  }

  update(run: number): Statement {
    const moved = recordedResults.filter((result) => (this.#changes.get(result) ?? 0) !== 0);
    const sets = [
      ...moved.map((result) => `${result} = ${result} + ?`),
      'touched = (SELECT last FROM petstock.sequence)',
    ];
    const changes = moved.map((result) => this.#changes.get(result) ?? 0);
    return statement(`UPDATE petstock.runs SET ${sets.join()} WHERE id = ?`, ...changes, run);
  }
}

export function outcomeLoads({ id }: BegunRun, outcomes: readonly Outcome[]): Statement[] {
  return outcomes.map(({ row }) =>
    statement('SELECT result, line FROM petstock.rows WHERE run = ? AND row = ?', id, row),
  );
}

/**
 * Decides what becomes of rows, and gives their leases back; one of unknown outcome keeps its pet busy until its request can't arrive any more.
 * @param loaded answers of `outcomeLoads`
 */
export function* settling(
  at: Moment,
  run: BegunRun,
  { outcomes, loaded, isTakenOver }: SettleFacts,
): Generator<readonly Statement[], Settled, Answers> {
  const results = new Map<number, RecordedResult>();
  const counts = new CountChanges();
  const writes: (Statement | Numbered)[] = [];
  const undone: number[] = [];
  for (const [index, outcome] of outcomes.entries()) {
    const known = loaded[index]?.[0];
    if (known === undefined) continue;
    const before = results.get(outcome.row) ?? (String(known.result) as RecordedResult);
    const became = settledAs(before, outcome.result, isTakenOver);
    if (became === undefined) continue;
    results.set(outcome.row, became);
    counts.move(before, became);
    writes.push(outcomeWrite(at, run, outcome, became), leaseWrite(run, outcome, became));
    if (became === 'applied' && before !== 'applied') undone.push(Number(known.line));
  }
  if (run.undoes !== undefined && undone.length > 0)
    writes.push(...(yield* markingUndone(run.run, run.undoes, undone)));
  return { results, counts, writes };
}

interface SettleFacts {
  readonly outcomes: readonly Outcome[];
  readonly loaded: Answers;
  readonly isTakenOver: boolean;
}

const writeOutcome = `UPDATE petstock.rows SET result = ?, quantity = ?, error = ?, at = ?, touched = ${drawnNumber} WHERE run = ? AND row = ?`;
const giveBack = 'DELETE FROM petstock.leases WHERE pet_id = ? AND service = ? AND owner = ?';
/** A request is still on its way. */
const leave = 'UPDATE petstock.leases SET holder = NULL WHERE pet_id = ? AND service = ? AND owner = ?';

function outcomeWrite({ wall }: Moment, { id }: BegunRun, outcome: Outcome, became: RecordedResult): Numbered {
  const { row, quantity, error } = outcome;
  const details = error === undefined ? null : JSON.stringify(error);
  return {
    sql: writeOutcome,
    values: (left) => [became, quantity ?? null, details, Math.round(wall), left, id, row],
  };
}

function leaseWrite({ run, service }: BegunRun, { petId }: Outcome, became: RecordedResult): Statement {
  return statement(became === 'unknown' ? leave : giveBack, petId, service, run);
}

/** Rows of a run were taken back: each counts once, whoever takes it back first. */
function* markingUndone(
  by: string,
  undoes: string,
  rows: readonly number[],
): Generator<readonly Statement[], Statement[], Answers> {
  const [[target] = [], ...known] = yield [
    statement('SELECT id, undone_by FROM petstock.runs WHERE run = ?', undoes),
    ...rows.map((row) =>
      statement(
        'SELECT row, undone_by FROM petstock.rows WHERE run = (SELECT id FROM petstock.runs WHERE run = ?) AND row = ?',
        undoes,
        row,
      ),
    ),
  ];
  if (target === undefined) return [];
  const first = known.flatMap(([row]: readonly Row[]) =>
    row === undefined || text(row.undone_by) ? [] : [Number(row.row)],
  );
  const undoneBy = new Set(JSON.parse(String(target.undone_by)) as string[]).add(by);
  const id = Number(target.id);
  return [
    ...first.map((row) => statement('UPDATE petstock.rows SET undone_by = ? WHERE run = ? AND row = ?', by, id, row)),
    statement(
      'UPDATE petstock.runs SET undone = undone + ?, undone_by = ? WHERE id = ?',
      new Set(first).size,
      JSON.stringify([...undoneBy]),
      id,
    ),
  ];
}

/** Gives each statement that draws a number its own, in their order. */
export function withNumbers(writes: readonly (Statement | Numbered)[]): {
  readonly numbers: number;
  readonly writes: Statement[];
} {
  const numbers = writes.filter(isNumbered).length;
  let drawn = 0;
  const numberedWrites = writes.map((write) => {
    if (!isNumbered(write)) return write;
    drawn += 1;
    return { sql: write.sql, values: write.values(numbers - drawn) };
  });
  return { numbers, writes: numberedWrites };
}

const isNumbered = (write: Statement | Numbered): write is Numbered => typeof write.values === 'function';

/** @returns the run in the columns of `selectBegun` */
export function begunRunIn(row: Row): BegunRun & { readonly holder: string | undefined } {
  return {
    id: number(row.id) ?? 0,
    run: String(row.run),
    service: number(row.service) ?? 0,
    serviceName: String(row.service_name),
    undoes: text(row.undoes),
    holder: text(row.holder),
  };
}

export const selectBegun = `SELECT id, run, service, undoes, holder,
  (SELECT name FROM petstock.services WHERE services.id = runs.service) AS service_name FROM petstock.runs`;
