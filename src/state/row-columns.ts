import type { RowError } from '../inventory/change.ts';
import { type RecordedResult, type RecordedRow, recordedResults } from '../inventory/run-records.ts';
import type { Result, Row } from './open-run.ts';
import { type Answer, number, text, time } from './statements.ts';

/** The columns of a row. The pet's id is text, because a number may not represent it. */
export const rowColumns = `rows.run, rows.row, rows.line, CAST(rows.pet_id AS text) AS pet_id, rows.before, rows.after, rows.delta, rows.basis,
  rows.reason, rows.ref, rows.result, rows.intent, rows.in_flight_until, rows.quantity, rows.error, rows.at, rows.outcome`;

export function rowOf(answer: Answer): Row {
  return {
    ...{ row: Number(answer.row), line: Number(answer.line), petId: BigInt(String(answer.pet_id)) },
    ...{ before: number(answer.before), after: Number(answer.after), delta: number(answer.delta) },
    ...{ basis: number(answer.basis), reason: text(answer.reason), ref: text(answer.ref) },
    ...{ result: String(answer.result) as Result, intent: number(answer.intent) },
    ...{ inFlightUntil: number(answer.in_flight_until), quantity: number(answer.quantity) },
    error: answer.error === null ? undefined : rowErrorOf(String(answer.error)),
  };
}

/** @param undoneBy the run that has undone the row */
export function recordedRowOf(answer: Answer, undoneBy: string | undefined): RecordedRow {
  const { result, ...row } = rowOf(answer);
  const known = result === 'sent' ? 'unknown' : result;
  return {
    ...row,
    result: recordedResults.find((each) => each === known) ?? (known as RecordedResult),
    ...{ at: time(answer.at), outcome: number(answer.outcome), undoneBy },
  };
}

/** Anyone who can write to the state can store anything there. */
function rowErrorOf(stored: string): RowError {
  const { code, message, status } = Object(parsed(stored));
  return { code: `${code}`, message: `${message}`, ...(typeof status === 'number' && { status }) };
}

function parsed(stored: string): unknown {
  try {
    return JSON.parse(stored);
  } catch {
    return undefined;
  }
}
