import type { RowError } from '../../inventory/change.ts';
import type { RecordedResult, RecordedRow, RunFilter, RunRecord } from '../history.ts';
import { recordedResults } from '../recorded-results.ts';
import type { DatabaseClock } from './database-clock.ts';
import type { Row } from './wire.ts';

/** The columns of a run, with the name of its service and the identity of its holder, where that has a lease. */
export const runColumns = `runs.*, runs.id::text AS id, runs.units::text AS units,
  (SELECT name FROM petstock.services WHERE services.id = runs.service) AS service_name,
  (SELECT identity FROM petstock.presence WHERE presence.id = runs.holder AND presence.expires > petstock.now_ms()) AS identity`;

/** The columns of a row; the id of its pet as text, since a number may not hold it. */
export const rowColumns = `row, line, pet_id::text AS pet, before, after, delta, reason, ref, result, quantity, error, at, sequence, undone_by,
   CASE WHEN expires > petstock.now_ms() THEN expires END AS arrives_until`;

/** @param isRunning whether a process is at it */
export function runRecordOf(row: Row, isRunning: boolean): RunRecord {
  const counts = Object.fromEntries(recordedResults.map((result) => [result, Number(row[result])]));
  const headUnchanged = Number(row.head_unchanged);
  const open = Number(row.pending) + Number(row.unknown);
  return {
    run: String(row.run),
    at: Math.round(Number(row.at)),
    command: String(row.command),
    env: String(row.env),
    store: text(row.store),
    baseUrl: String(row.base_url),
    service: String(row.service_name),
    scope: String(row.scope),
    user: text(row.os_user),
    host: String(row.host),
    file: text(row.file),
    contentHash: text(row.content_hash),
    hasDeltas: typeof row.has_deltas === 'boolean' ? row.has_deltas : undefined,
    reason: text(row.reason),
    undoes: text(row.undoes),
    unchanged: headUnchanged,
    skipped: Number(row.head_skipped),
    notEdited: Number(row.head_not_edited),
    undoneBy: row.undone_by as readonly string[],
    undone: Number(row.undone),
    changes: Number(row.changes),
    units: BigInt(String(row.units)),
    pets: (row.pets as readonly string[]).map(BigInt),
    counts: {
      ...(counts as Record<RecordedResult, number>),
      unchanged: Number(row.unchanged) + headUnchanged,
      skipped: Number(row.head_skipped),
      notEdited: Number(row.head_not_edited),
    },
    state: isRunning ? 'running' : open > 0 ? 'incomplete' : 'done',
  };
}

export function recordedRowOf(row: Row, time: DatabaseClock): RecordedRow {
  return {
    row: Number(row.row),
    line: Number(row.line),
    petId: BigInt(String(row.pet)),
    before: number(row.before),
    after: Number(row.after),
    delta: number(row.delta),
    reason: text(row.reason),
    ref: text(row.ref),
    result: row.result as RecordedResult,
    quantity: number(row.quantity),
    error: row.error === null ? undefined : (JSON.parse(String(row.error)) as RowError),
    at: number(row.at),
    expires: row.arrives_until === null ? undefined : time.localLatest(Number(row.arrives_until)),
    sequence: Number(row.sequence),
    undoneBy: text(row.undone_by),
  };
}

/** What of a filter the tables can answer; whether a process is at a run they can't. @param from the number of its first value */
export function conditionsOf(
  filter: RunFilter,
  from: number,
): { readonly sql: string; readonly values: readonly unknown[] } {
  const { env, store, petId, since, until, state, by } = filter;
  const conditions: [sql: (place: string) => string, value: unknown][] = [];
  if (env !== undefined) conditions.push([(place) => `env = ${place}`, env]);
  if (store !== undefined) conditions.push([(place) => `store IS NOT DISTINCT FROM ${place}::text`, store]);
  if (petId !== undefined) {
    conditions.push([(place) => `id IN (SELECT rows.run FROM petstock.rows WHERE rows.pet_id = ${place})`, petId]);
  }
  if (since !== undefined) conditions.push([(place) => `at >= ${place}`, since]);
  if (until !== undefined) conditions.push([(place) => `at <= ${place}`, until]);
  if (by?.user !== undefined) conditions.push([(place) => `os_user = ${place}`, by.user]);
  if (by?.host !== undefined) conditions.push([(place) => `host = ${place}`, by.host]);
  const open = {
    incomplete: ['pending + unknown > 0'],
    done: ['pending + unknown = 0'],
    running: ['holder IS NOT NULL'],
  };
  const fixed = ['TRUE', ...(state === undefined ? [] : open[state])];
  return {
    sql: [...fixed, ...conditions.map(([sql], index) => sql(`$${from + index}`))].join(' AND '),
    values: conditions.map(([, value]) => value),
  };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A bigint of PostgreSQL comes as text. */
function number(value: unknown): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}
