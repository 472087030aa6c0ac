import type { RecordedRow, RunRecord } from '../inventory/run-records.ts';
import { batchesOf } from './batches.ts';
import { exportIdentity, rowJson } from './run-json.ts';
import type { Column, Row, View } from './view.ts';

/** A run and its rows. */
export interface ExportedRun {
  readonly run: RunRecord;
  readonly rows: AsyncIterable<RecordedRow>;
}

const fields = [
  ...['run', 'env', 'store', 'baseUrl', 'command', 'user', 'host', 'file', 'undoes', 'runAt'],
  ...['row', 'line', 'petId', 'before', 'after', 'result', 'quantity', 'error', 'reason', 'ref', 'at', 'undoneBy'],
];
const columns: readonly Column[] = fields.map((field) => ({ field, title: field }));

/**
 * Every row of some runs, each with the facts of its run: what `history export` writes, and no table shows. JSON has the whole
 * error of a row, CSV and TSV its message.
 */
export function historyExportView(runs: () => AsyncIterable<ExportedRun>): View {
  return {
    shape: 'list',
    columns,
    rows: batchesOf(() => flatRows(runs()), same),
    document: { head: undefined, rows: batchesOf(() => jsonRows(runs()), same) },
  };
}

async function* jsonRows(runs: AsyncIterable<ExportedRun>): AsyncGenerator<object> {
  for await (const { run, rows } of runs) {
    const identity = exportIdentity(run);
    for await (const row of rows) yield { ...identity, ...rowJson(row), undoneBy: row.undoneBy ?? null };
  }
}

async function* flatRows(runs: AsyncIterable<ExportedRun>): AsyncGenerator<Row> {
  for await (const { run, rows } of runs) {
    const identity = exportIdentity(run);
    for await (const row of rows) {
      const { undoneBy = null, error } = row;
      yield { ...identity, ...rowJson(row), error: error?.message ?? null, undoneBy };
    }
  }
}

function same<T>(value: T): T {
  return value;
}
