import { type BulkReport, type BulkRow, countRows } from '../inventory/change.ts';
import { batchesOf, changeRowWriter, errorFields, numberColumn as number, stateCell } from './change-rows.ts';
import { countsSentence, countsText } from './counts-text.ts';
import type { Column, Row, View } from './view.ts';

/**
 * What became of each row of a bulk change. JSON is
 * `{"run","env","dryRun","counts":{…},"rows":[{"line","petId","before","after","result","error"}]}`; a row has an `error`
 * with `code`, `message` and, after an answer, `status` only where it failed or is a conflict. CSV and TSV have the same
 * fields as columns, of the error its message, since a list of failures without reasons helps nobody. A table leaves out
 * what is unchanged.
 */
export function bulkReportView(report: BulkReport): View {
  const { run, env, dryRun, rows } = report;
  const changed = rows.filter(({ result }) => result !== 'unchanged');
  const hasErrors = rows.some(({ error }) => error !== undefined);
  return {
    shape: 'list',
    columns,
    rows: batchesOf(rows, toRow),
    document: { head: { run, env, dryRun, counts: countRows(rows) }, row: changeRowWriter(columns) },
    table: {
      columns: hasErrors ? columns : columns.filter(({ field }) => field !== 'error'),
      rows: batchesOf(changed, toRow),
    },
  };
}

/** A report in one line: `1,195 applied, 3 unchanged, 2 failed.` */
export function reportSummary({ dryRun, rows }: Pick<BulkReport, 'dryRun' | 'rows'>): string {
  return dryRun ? `Dry run: ${countsText(rows)}; nothing was written.` : countsSentence(rows);
}

function toRow({ line, petId, before, after, result, error }: BulkRow): Row {
  return { line, petId, before: before ?? null, after: after ?? null, result, ...errorFields(error) };
}

const columns: readonly Column[] = [
  number('line', 'Line'),
  number('petId', 'Pet ID'),
  number('before', 'Before'),
  number('after', 'After'),
  { field: 'result', title: 'Result', whole: true, cell: stateCell },
  { field: 'error', title: 'Reason' },
];
