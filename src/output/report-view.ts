import {
  type BulkReport,
  type BulkRow,
  type BulkRows,
  countReport,
  countWhere,
  rowsWhere,
} from '../inventory/change.ts';
import { batchesOfArray } from './batches.ts';
import {
  countColumn,
  countsSentence,
  countsText,
  errorJsonOf,
  faultText,
  numberColumn as number,
  resultCell,
} from './change-rows.ts';
import type { Column, Grid, Row, View } from './view.ts';

/**
 * What became of each row of a bulk change. JSON is
 * `{"run","env","dryRun","counts":{…},"rows":[{"line","petId","before","after","result","quantity","error"}]}`; a row has
 * `quantity` only where the service wrote another one than `after`, and an `error` with `code`, `message` and, after an
 * answer, `status` only where it went wrong. CSV and TSV have the same fields as columns, of the error its message. A table
 * leaves out what is unchanged.
 */
export function bulkReportView(report: BulkReport): View {
  const { run, env, dryRun, rows } = report;
  return {
    shape: 'list',
    isWordy: true,
    columns,
    rows: batchesOfArray(rows, toRow),
    document: { head: { run, env, dryRun, counts: countReport(report) }, rows: batchesOfArray(rows, rowJson) },
    table: async () => tableOf(rows),
  };
}

/** A report in one line: `1,195 applied, 3 unchanged, 2 failed.` */
export function reportSummary({ dryRun, rows, unchanged }: Omit<BulkReport, 'run' | 'env'>): string {
  return dryRun ? `Dry run: ${countsText(rows, unchanged)}; nothing was written.` : countsSentence(rows, unchanged);
}

function rowJson(row: BulkRow): object {
  const { line, petId, before = null, after = null, result, quantity, error } = row;
  return { line, petId, before, after, result, quantity, error: errorJsonOf(error) };
}

function toRow(row: BulkRow): Row {
  const { line, petId, before = null, after = null, result, quantity = null, error } = row;
  return { line, petId, before, after, result, error: error?.message ?? null, quantity };
}

const error: Column = { field: 'error', title: 'Error' };
const shownColumns: readonly Column[] = [
  number('line', 'Line'),
  number('petId', 'Pet ID'),
  countColumn('before', 'Before'),
  countColumn('after', 'After'),
  { field: 'result', title: 'Result', whole: true, cell: resultCell },
];
/** `quantity` is the last, so that the others keep their places in TSV. */
const columns: readonly Column[] = [...shownColumns, error, countColumn('quantity', 'Written')];

function tableOf(rows: BulkRows): Grid {
  const changed = rowsWhere(rows, ({ result }) => result !== 'unchanged');
  const hasFaults = countWhere(changed, (row) => faultText(row) !== undefined) > 0;
  const toTableRow = (row: BulkRow): Row => ({ ...toRow(row), error: faultText(row) ?? null });
  return { columns: hasFaults ? [...shownColumns, error] : shownColumns, rows: batchesOfArray(changed, toTableRow) };
}
