import type { RowError } from '../inventory/change.ts';
import {
  type RecordedResult,
  type RecordedRow,
  type RunFilter,
  type RunRecord,
  recordedResults,
} from '../inventory/run-records.ts';
import { runIdIn } from './run-ids.ts';
import {
  flag,
  json,
  name,
  number,
  type Row,
  type Statement,
  statement,
  text,
  texts,
  time,
  type Value,
} from './statements.ts';

/** The columns of a run, with the name of its service. */
export const runColumns =
  'runs.*, (SELECT name FROM petstock.services WHERE services.id = runs.service) AS service_name';

/** The columns of a row. The pet's id is text, because a number may not represent it. */
export const rowColumns =
  'rows.row, rows.line, CAST(rows.pet_id AS TEXT) AS pet, rows.before, rows.after, rows.delta, rows.reason, rows.ref, rows.result, rows.quantity, rows.error, rows.at, rows.boot, rows.expires, rows.lasts, rows.sequence, rows.touched, rows.undone_by';

/** @param isRunning whether a process is writing the run */
export function runRecordOf(row: Row, isRunning: boolean): RunRecord {
  const counts = Object.fromEntries(recordedResults.map((result) => [result, Number(row[result])]));
  const ofHead = { skipped: Number(row.head_skipped), notEdited: Number(row.head_not_edited) };
  const unchanged = Number(row.head_unchanged);
  const isDiscarded = flag(row.discarded) === true;
  const isOpen = !isDiscarded && Number(row.pending) + Number(row.unknown) > 0;
  return {
    run: runIdIn(row.run),
    at: Math.round(time(row.at) ?? 0),
    command: name(row.command),
    env: name(row.env),
    store: row.store === null ? undefined : name(row.store),
    baseUrl: String(row.base_url),
    serviceName: String(row.service_name),
    scope: String(row.scope),
    user: text(row.os_user),
    host: name(row.host),
    file: text(row.file),
    contentHash: text(row.content_hash),
    hasDeltas: flag(row.has_deltas),
    reason: text(row.reason),
    undoes: text(row.undoes) && runIdIn(row.undoes),
    unchanged,
    ...ofHead,
    undoneBy: texts(row.undone_by).map(runIdIn),
    undone: Number(row.undone),
    changes: Number(row.changes),
    units: /^\d+$/.test(String(row.units)) ? BigInt(String(row.units)) : 0n,
    pets: texts(row.pets).flatMap((id) => (/^-?\d{1,19}$/.test(id) ? [BigInt(id)] : [])),
    counts: { ...(counts as RunRecord['counts']), unchanged: Number(row.unchanged) + unchanged, ...ofHead },
    state: isRunning ? 'running' : isOpen ? 'incomplete' : 'done',
    isDiscarded,
    began: Number(row.began),
    sequence: Number(row.sequence),
    touched: Number(row.touched),
  };
}

/**
 * Returns a run in an older copy for display: its open rows may have been written.
 * @param deltas how many of the open rows have a delta
 */
export function doubtfulRun(record: RunRecord, deltas: number): RunRecord {
  const { pending, unknown, conflict } = record.counts;
  const left = pending + unknown - deltas;
  const counts = { ...record.counts, pending: 0, unknown: left, conflict: conflict + deltas };
  return { ...record, counts, state: record.state === 'incomplete' && left === 0 ? 'done' : record.state };
}

/**
 * @param inFlightUntil when a request of the row can no longer be in flight, by the monotonic clock; undefined if none
 * is
 * @param before the row before this one: an equal reason shares its string
 */
export function recordedRowOf(row: Row, inFlightUntil: number | undefined, before?: RecordedRow): RecordedRow {
  return {
    row: Number(row.row),
    line: Number(row.line),
    petId: BigInt(String(row.pet)),
    before: number(row.before),
    after: Number(row.after),
    delta: number(row.delta),
    reason: row.reason === before?.reason ? before?.reason : text(row.reason),
    ref: text(row.ref),
    result: recordedResults.find((result) => result === row.result) ?? (row.result as RecordedResult),
    quantity: number(row.quantity),
    error: row.error === null ? undefined : rowErrorIn(json(row.error)),
    at: time(row.at),
    inFlightUntil,
    sequence: Number(row.sequence),
    touched: Number(row.touched),
    undoneBy: text(row.undone_by) && runIdIn(row.undone_by),
  };
}

function rowErrorIn(stored: unknown): RowError {
  const { code, message, status } = Object(stored);
  return { code: `${code}`, message: `${message}`, ...(typeof status === 'number' && { status }) };
}

const openStates = {
  incomplete: 'runs.pending + runs.unknown > 0 AND runs.discarded IS NULL',
  done: '(runs.pending + runs.unknown = 0 OR runs.discarded IS NOT NULL)',
  running: 'runs.holder IS NOT NULL',
};

/**
 * Returns the part of a filter that SQL can express. `RecordedRuns.runs` checks whether a process is writing a run.
 * @param table whether times and pets are matched on runs or on single rows
 */
export function conditionsOf(table: 'runs' | 'rows', filter: RunFilter): Statement {
  const { env, store, user, since, until, petId, petIds, ref, by, state } = filter;
  const ofRow = (condition: string) =>
    table === 'rows' ? condition : `runs.id IN (SELECT rows.run FROM petstock.rows WHERE ${condition})`;
  const given: readonly (readonly [Value | undefined, string])[] = [
    [env, 'runs.env = ?'],
    [store ?? undefined, 'runs.store = ?'],
    [user, 'runs.os_user = ?'],
    [since, `${table}.at >= ?`],
    [until, `${table}.at <= ?`],
    [petId, ofRow('rows.pet_id = ?')],
    [ref, ofRow('rows.ref = ?')],
    [by?.user, 'runs.os_user = ?'],
    [by?.host, 'runs.host = ?'],
  ];
  const applying = given.flatMap(([value, sql]) => (value === undefined ? [] : [{ value, sql }]));
  const conditions = applying.map(({ sql }) => sql);
  if (store === null) conditions.push('runs.store IS NULL');
  if (state !== undefined) conditions.push(openStates[state]);
  const values = applying.map(({ value }) => value);
  // The digits are part of the statement, because a long list of pets could exceed the maximum number of parameters.
  const ids = petIds === undefined ? undefined : [...petIds].join();
  if (ids !== undefined) conditions.push(ids === '' ? '1 = 0' : ofRow(`rows.pet_id IN (${ids})`));
  return statement(conditions.join(' AND ') || '1 = 1', ...values);
}
