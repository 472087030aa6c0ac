import type { RowError } from '../inventory/change.ts';
import type { PlannedRow, RecordedResult, RecordedRow, RunHead } from '../inventory/run-records.ts';
import type { Lock, Moment } from './state-store.ts';
import { type Answer, number, type Statement, text, time } from './statements.ts';

/** `sent`: the request may be on its way, and its process has recorded no more. Others see such a row as `unknown`. */
export type Result = RecordedResult | 'sent';

/** A row of a run. The process that writes the run changes it together with the store. */
export interface Row extends Omit<PlannedRow, 'outcome'> {
  before: number | undefined;
  after: number;
  result: Result;
  /** The number of its last intent, in the order of all intents to its service. */
  intent: number | undefined;
  /**
   * When none of its requests can be under way any more, by the store's clock; undefined if none can be now. A row can
   * be `applied` while an earlier request of it is still under way.
   */
  inFlightUntil: number | undefined;
  /** The stock that was found or written. */
  quantity: number | undefined;
  error: RowError | undefined;
}

/** A run that this process writes: it has the run's lock. */
export interface OpenRun extends RunHead {
  readonly run: string;
  /** The last intent before the run began; 0 until the run is recorded. */
  began: number;
  readonly rows: readonly Row[];
  /** Whether an earlier process has written it. */
  readonly isResumed: boolean;
  lock: Lock;
  /**
   * Set while the run is not recorded: the first transaction of the run writes these statements before all others. When
   * it has committed, set this to undefined.
   */
  beginning: ((moment: Moment) => Iterable<Statement>) | undefined;
}

export function isOpen({ result }: Pick<Row, 'result'>): boolean {
  return result === 'pending' || result === 'sent' || result === 'unknown';
}

/** A write of another run to a pet. */
export interface OtherWrite {
  readonly petId: bigint;
  readonly run: string;
  readonly command: string;
  readonly intent: number;
  /** `unknown` for a row that is `sent`, too. */
  readonly result: 'applied' | 'differs' | 'unknown';
  /** The stock that was written, or for `unknown`, that may have been written. */
  readonly quantity: number;
  /** The stock that the write had read; undefined if it had read none. */
  readonly before: number | undefined;
  readonly delta: number | undefined;
  readonly inFlightUntil: number | undefined;
  /** Its place in its run, and the run and the row that it has undone. */
  readonly row: number;
  readonly undoes: string | undefined;
  readonly line: number;
}

/** The last write to a pet that was answered, of any run. */
export interface LastWrite {
  readonly petId: bigint;
  readonly before: number | undefined;
  readonly quantity: number;
  /** When its answer was recorded, by the store's clock. */
  readonly at: number;
}

/** The columns of a row. The pet's id is text, because a number may not represent it. */
export const rowColumns = `rows.run, rows.row, rows.line, CAST(rows.pet_id AS text) AS pet_id, rows.before, rows.after, rows.delta, rows.basis,
  rows.reason, rows.ref, rows.result, rows.intent, rows.in_flight_until, rows.quantity, rows.error, rows.at, rows.outcome`;

/** Written field by field: by spreading, each of many rows would get a shape of its own, which takes four times the memory. */
export function rowOf(answer: Answer): Row {
  return {
    row: Number(answer.row),
    line: Number(answer.line),
    petId: BigInt(String(answer.pet_id)),
    before: number(answer.before),
    after: Number(answer.after),
    delta: number(answer.delta),
    basis: number(answer.basis),
    reason: text(answer.reason),
    ref: text(answer.ref),
    result: String(answer.result) as Result,
    intent: number(answer.intent),
    inFlightUntil: number(answer.in_flight_until),
    quantity: number(answer.quantity),
    error: answer.error === null ? undefined : rowErrorOf(String(answer.error)),
  };
}

/** @param undoneBy the run that has undone the row */
export function recordedRowOf(answer: Answer, undoneBy: string | undefined): RecordedRow {
  const row = rowOf(answer);
  const result = row.result === 'sent' ? 'unknown' : row.result;
  return Object.assign(row, { result, at: time(answer.at), outcome: number(answer.outcome), undoneBy });
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
