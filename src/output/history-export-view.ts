import type { RecordedRow, RunRecord } from '../inventory/run-records.ts';
import { batchesOf } from './batches.ts';
import { exportIdentity, rowJson } from './history-list-view.ts';
import type { Column, Row, View } from './view.ts';

/** A row, and its run. */
export interface ExportedRow {
  readonly run: RunRecord;
  readonly row: RecordedRow;
}

const fields = [
  ...['run', 'env', 'store', 'baseUrl', 'command', 'user', 'host', 'file', 'undoes', 'runAt'],
  ...[
    'row',
    'line',
    'petId',
    'before',
    'after',
    'result',
    'quantity',
    'error',
    'reason',
    'ref',
    'at',
    'undoneBy',
    'seq',
  ],
];
const columns: readonly Column[] = fields.map((field) => ({ field, title: field }));

/**
 * Rows in the order in which they were settled, each with the facts of its run: what `history export` writes, and no table shows. JSON has the
 * whole error of a row, CSV and TSV its message. `seq` only grows.
 */
export function historyExportView(rows: () => AsyncIterable<ExportedRow>): View {
  return {
    shape: 'list',
    columns,
    rows: batchesOf(() => rows(), flatRow),
    document: { head: undefined, rows: batchesOf(() => rows(), jsonRow) },
  };
}

function jsonRow({ run, row }: ExportedRow): object {
  return { ...exportIdentity(run), ...rowJson(row), undoneBy: row.undoneBy ?? null, seq: row.touched };
}

function flatRow(exported: ExportedRow): Row {
  return { ...(jsonRow(exported) as Row), error: exported.row.error?.message ?? null };
}
