import type { RowError } from '../inventory/change.ts';
import {
  type RecordedResult,
  type RecordedRow,
  type RunFilter,
  type RunRecord,
  recordedResults,
} from '../inventory/run-records.ts';
import { FailureError, NotFoundError, UsageError } from '../shared/errors.ts';
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
  type Value,
} from './statements.ts';

/** The columns of a run, with the name of its service. */
export const runColumns =
  'runs.*, (SELECT name FROM petstock.services WHERE services.id = runs.service) AS service_name';

/** The columns of a row; the id of its pet as text, since a number may not hold it. */
export const rowColumns =
  'rows.row, rows.line, CAST(rows.pet_id AS TEXT) AS pet, rows.before, rows.after, rows.delta, rows.reason, rows.ref, rows.result, rows.quantity, rows.error, rows.at, rows.boot, rows.expires, rows.lasts, rows.sequence, rows.touched, rows.undone_by';

/** @param isRunning whether a process is writing it */
export function runRecordOf(row: Row, isRunning: boolean): RunRecord {
  const counts = Object.fromEntries(recordedResults.map((result) => [result, Number(row[result])]));
  const ofHead = { skipped: Number(row.head_skipped), notEdited: Number(row.head_not_edited) };
  const unchanged = Number(row.head_unchanged);
  const isOpen = Number(row.pending) + Number(row.unknown) > 0;
  return {
    run: String(row.run),
    at: Math.round(Number(row.at)),
    command: name(row.command),
    env: name(row.env),
    store: row.store === null ? undefined : name(row.store),
    baseUrl: String(row.base_url),
    service: String(row.service_name),
    scope: String(row.scope),
    user: text(row.os_user),
    host: name(row.host),
    file: text(row.file),
    contentHash: text(row.content_hash),
    hasDeltas: flag(row.has_deltas),
    reason: text(row.reason),
    undoes: text(row.undoes),
    unchanged,
    ...ofHead,
    undoneBy: texts(row.undone_by),
    undone: Number(row.undone),
    changes: Number(row.changes),
    units: /^\d+$/.test(String(row.units)) ? BigInt(String(row.units)) : 0n,
    pets: texts(row.pets).flatMap((id) => (/^-?\d{1,19}$/.test(id) ? [BigInt(id)] : [])),
    counts: { ...(counts as RunRecord['counts']), unchanged: Number(row.unchanged) + unchanged, ...ofHead },
    state: isRunning ? 'running' : isOpen ? 'incomplete' : 'done',
    began: Number(row.began),
    sequence: Number(row.sequence),
    touched: Number(row.touched),
  };
}

/**
 * @param expires until when a request of it may arrive, by the monotonic clock
 * @param before the row before it: texts that both have are kept once
 */
export function recordedRowOf(row: Row, expires: number | undefined, before?: RecordedRow): RecordedRow {
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
    at: number(row.at),
    expires,
    sequence: Number(row.sequence),
    touched: Number(row.touched),
    undoneBy: text(row.undone_by),
  };
}

function rowErrorIn(stored: unknown): RowError {
  const { code, message, status } = Object(stored);
  return { code: `${code}`, message: `${message}`, ...(typeof status === 'number' && { status }) };
}

const openStates = {
  incomplete: 'runs.pending + runs.unknown > 0',
  done: 'runs.pending + runs.unknown = 0',
  running: 'runs.holder IS NOT NULL',
};

/**
 * Returns the part of a filter that the tables can answer; whether a process is writing a run they can't.
 * @param table whether times and pets are those of runs, or of single rows
 */
export function conditionsOf(table: 'runs' | 'rows', filter: RunFilter): Statement {
  const { env, store, user, since, until, petId, ref, by, state } = filter;
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
  return statement(conditions.join(' AND ') || '1 = 1', ...applying.map(({ value }) => value));
}

/** A year from 10000 on has six digits. */
const runPattern = /^\d{8}(?:\d\d)?T\d{6}Z-[0-9a-z]{4}$/;
const hint = 'petstock history list';

/**
 * An id after the time and four characters that tell apart the runs of one second.
 * @param at milliseconds since the Unix epoch
 * @param random in [0, 1)
 * @param attempt from 0: another id each time, for one that is taken
 */
export function runIdAt(at: number, random: number, attempt: number): string {
  const time = new Date(at).toISOString().replace(/[-+:]|\.\d+/g, '');
  const suffix = Math.floor((random + attempt / 7) * 36 ** 4) % 36 ** 4;
  return `${time}-${suffix.toString(36).padStart(4, '0')}`;
}

/**
 * A run as a person has typed it: its whole id, or the end of it in lower case.
 * @throws UsageError for what is neither
 */
export function readRunId(text: string): { readonly whole: string } | { readonly end: string } {
  if (/^[0-9a-z]{4}$/i.test(text)) return { end: text.toLowerCase() };
  if (runPattern.test(text)) return { whole: text };
  throw new UsageError(`${JSON.stringify(text)} is not the id of a run, such as 20260115T120020Z-k3x9`, { hint });
}

export function noSuchRun(run: string): NotFoundError {
  return new NotFoundError(`There is no run ${run} in the history`, { hint });
}

/** @throws UsageError where several runs are meant, NotFoundError where there is none */
export function onlyRun(text: string, [run, ...others]: readonly string[]): string {
  if (run === undefined) throw noSuchRun(text);
  // Whoever can write to the state can put anything there; it must not come into a command or the name of a file.
  if (!runPattern.test(run)) {
    throw new FailureError(`The history has a run ${JSON.stringify(run)}, which is no id`, { hint });
  }
  if (others.length === 0) return run;
  throw new UsageError(`${text} may be ${[run, ...others].join(' or ')}: give the whole id`, { hint });
}
