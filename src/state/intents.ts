import { type LastWrite, type OpenRun, type OtherWrite, type Row, rowColumns, rowOf } from './open-run.ts';
import type { Moment } from './state-store.ts';
import { type Answer, among, forEach, number, type Statement, statement, text } from './statements.ts';

/** What a turn asks and writes about the rows of a run: the questions before its intents, intents, and outcomes. */
type Writer = Pick<OpenRun, 'run' | 'service'>;

/** Asks for the last intent to a service, and the last one that was removed from the history: see `countersOf`. */
export function lastIntent(service: string): Statement {
  return statement('SELECT last_intent, removed_intent FROM services WHERE service = ?', service);
}

/**
 * @returns `last`: the number of the last intent. `removed`: what other runs have written up to this intent is not
 * known, so a stock that shows only earlier ones has to be read again
 */
export function countersOf([answer]: readonly Answer[] = []): { readonly last: number; readonly removed: number } {
  return { last: number(answer?.last_intent) ?? 0, removed: number(answer?.removed_intent) ?? 0 };
}

/**
 * Asks for the writes of other runs whose requests may still be under way to the service, to any pet: those with an
 * `inFlightUntil` that has not passed. See `otherWriteOf`.
 */
export function inFlightElsewhere({ service, run }: Writer): Statement {
  const select = `SELECT ${rowColumns}, runs.command, runs.undoes FROM rows JOIN runs ON runs.run = rows.run
    WHERE rows.service = ? AND rows.run <> ? AND rows.in_flight_until IS NOT NULL`;
  return statement(select, service, run);
}

/** Asks what other runs have written to these pets since an intent, or may have, oldest first: see `otherWriteOf`. */
export function writtenElsewhere({ service, run }: Writer, pets: readonly bigint[], since: number): Statement[] {
  const select = `SELECT ${rowColumns}, runs.command, runs.undoes FROM rows JOIN runs ON runs.run = rows.run
    WHERE rows.pet_id IN ?* AND rows.service = ? AND rows.run <> ? AND rows.intent > ?
      AND rows.result IN ('sent', 'unknown', 'applied', 'differs') ORDER BY rows.intent`;
  return among(select, pets, service, run, since);
}

export function otherWriteOf(answer: Answer): OtherWrite {
  const { petId, result, before, after, quantity = after, delta, intent = 0, inFlightUntil, row, line } = rowOf(answer);
  return {
    ...{ petId, run: String(answer.run), command: String(answer.command), intent },
    ...{
      result: result === 'applied' || result === 'differs' ? result : 'unknown',
      quantity,
      before,
      delta,
      inFlightUntil,
    },
    ...{ row, line, undoes: text(answer.undoes) },
  };
}

/** Asks for the last answered write to each of these pets, of any run: see `lastWriteOf`. */
export function lastWritten(service: string, pets: readonly bigint[]): Statement[] {
  const select = `SELECT CAST(pet_id AS text) AS pet_id, before, coalesce(quantity, after) AS quantity, at FROM rows
    WHERE pet_id IN ?* AND service = ? AND result IN ('applied', 'differs') AND intent = (
      SELECT max(later.intent) FROM rows AS later WHERE later.service = rows.service AND later.pet_id = rows.pet_id
        AND later.result IN ('applied', 'differs'))`;
  return among(select, pets, service);
}

export function lastWriteOf(answer: Answer): LastWrite {
  return {
    ...{ petId: BigInt(String(answer.pet_id)), before: number(answer.before) },
    ...{ quantity: Number(answer.quantity), at: number(answer.at) ?? 0 },
  };
}

/**
 * Numbers rows, marks them as sent, and returns the statements that record that.
 * @param last the last intent of the service, as this transaction has read it
 * @param flight how long their requests may be under way from now, in milliseconds
 */
export function intend(
  { run, service }: Writer,
  rows: readonly Row[],
  last: number,
  { now }: Moment,
  flight: number,
): Statement[] {
  if (rows.length === 0) return [];
  const inFlightUntil = now + flight;
  const tuples = rows.map((row, index) => {
    const intent = last + 1 + index;
    Object.assign(row, { result: 'sent', intent, inFlightUntil, error: undefined });
    return [row.row, intent, row.before ?? null, row.after];
  });
  const update = `UPDATE rows SET result = 'sent', at = ?, in_flight_until = ?, error = NULL,
    intent = sent.column2, before = sent.column3, after = sent.column4
    FROM (VALUES ?*) AS sent WHERE rows.run = ? AND rows.row = sent.column1`;
  const shape = '(CAST(? AS integer), CAST(? AS bigint), CAST(? AS bigint), CAST(? AS bigint))';
  const count = `INSERT INTO services (service, last_intent) VALUES (?, ?)
    ON CONFLICT (service) DO UPDATE SET last_intent = excluded.last_intent`;
  return [...forEach(update, shape, tuples, now, inFlightUntil, run), statement(count, service, last + rows.length)];
}

const types = ['integer', 'text', 'bigint', 'double precision', 'bigint', 'text', 'bigint', 'bigint', 'bigint'];

/**
 * Returns the statements that record the results of rows. A row that another process has settled, or sent again, since
 * stays as it is. Final results get a number, in the order in which they become visible. A row keeps its `inFlightUntil`,
 * whatever its result: undefined if no request can be under way any more.
 */
export function settle({ run }: Pick<Writer, 'run'>, rows: readonly Row[], { now }: Moment): Statement[] {
  if (rows.length === 0) return [];
  let outcomes = 0;
  const tuples = rows.map(({ row, result, intent, inFlightUntil, quantity, error, before, after }) => {
    const isFinal = result !== 'pending' && result !== 'sent' && result !== 'unknown';
    if (isFinal) outcomes += 1;
    return [
      ...[row, result, intent ?? 0, inFlightUntil ?? null, quantity ?? null],
      ...[error === undefined ? null : JSON.stringify(error), before ?? null, after, isFinal ? outcomes : null],
    ];
  });
  const update = `UPDATE rows SET at = ?, result = done.column2, in_flight_until = done.column4, quantity = done.column5,
    error = done.column6, before = done.column7, after = done.column8, outcome = (SELECT last FROM outcomes) + done.column9
    FROM (VALUES ?*) AS done WHERE rows.run = ? AND rows.row = done.column1
      AND coalesce(rows.intent, 0) <= done.column3 AND rows.result IN ('pending', 'sent', 'unknown')`;
  const shape = `(${types.map((type) => `CAST(? AS ${type})`).join()})`;
  return [
    ...forEach(update, shape, tuples, now, run),
    ...(outcomes === 0 ? [] : [statement('UPDATE outcomes SET last = last + ?', outcomes)]),
  ];
}
