import type { RowError } from '../../inventory/change.ts';
import type { Clock } from '../../shared/clock.ts';
import type { RecordedResult, RecordedRow, RunRecord } from '../history.ts';
import { recordedResults } from '../recorded-results.ts';
import type { Row } from './engine.ts';
import { unexpired } from './leases.ts';

/** The columns of a run, with the name of its service. */
export const runColumns = 'runs.*, (SELECT name FROM services WHERE services.id = runs.service) AS service_name';

/** The columns of a row; the id of its pet as text, since a number may not hold it. */
export const rowColumns =
  'row, line, CAST(pet_id AS TEXT) AS pet, before, after, delta, reason, ref, result, quantity, error, at, boot, expires, sequence, undone_by';

/** @param isRunning whether a process is at it */
export function runRecordOf(row: Row, isRunning: boolean): RunRecord {
  const counts = Object.fromEntries(recordedResults.map((result) => [result, Number(row[result])]));
  const headUnchanged = Number(row.head_unchanged);
  const open = Number(row.pending) + Number(row.unknown);
  return {
    run: String(row.run),
    at: Number(row.at),
    command: String(row.command),
    env: String(row.env),
    store: text(row.store),
    baseUrl: String(row.base_url),
    service: String(row.service_name),
    scope: String(row.scope),
    user: text(row.user),
    host: String(row.host),
    file: text(row.file),
    contentHash: text(row.content_hash),
    hasDeltas: row.has_deltas === null ? undefined : row.has_deltas === 1,
    reason: text(row.reason),
    undoes: text(row.undoes),
    unchanged: headUnchanged,
    skipped: Number(row.head_skipped),
    notEdited: Number(row.head_not_edited),
    undoneBy: JSON.parse(String(row.undone_by)) as string[],
    undone: Number(row.undone),
    changes: Number(row.changes),
    units: BigInt(String(row.units)),
    pets: (JSON.parse(String(row.pets)) as string[]).map(BigInt),
    counts: {
      ...(counts as Record<RecordedResult, number>),
      unchanged: Number(row.unchanged) + headUnchanged,
      skipped: Number(row.head_skipped),
      notEdited: Number(row.head_not_edited),
    },
    state: isRunning ? 'running' : open > 0 ? 'incomplete' : 'done',
  };
}

/**
 * @param before the row before it: texts that both have are kept once
 */
export function recordedRowOf(row: Row, clock: Clock, before?: RecordedRow): RecordedRow {
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
    error: row.error === null ? undefined : (JSON.parse(String(row.error)) as RowError),
    at: number(row.at),
    expires: unexpired(clock, row.boot, row.expires),
    sequence: Number(row.sequence),
    undoneBy: text(row.undone_by),
  };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
