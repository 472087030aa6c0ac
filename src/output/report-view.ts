import type { PetNames } from '../inventory/bar-codes.ts';
import { type BulkReport, type BulkRow, countRows, isIdle, isWrong } from '../inventory/change.ts';
import { batchesOf } from './batches.ts';
import { errorColumn, problemText, resultCell } from './change-rows.ts';
import { countColumn, nameColumn, numberColumn as number } from './columns.ts';
import { type Column, type Grid, plainColumns, type Row, type View } from './view.ts';

/**
 * Returns the view of the outcome of each row of a bulk change. JSON is
 * `{"run","env","dryRun","counts":{…},"rows":[{"line","petId","before","after","result","quantity","error"}]}`. A row
 * has `quantity` only if the service wrote another quantity than `after`, and `error` only if it went wrong, with
 * `code`, `message` and, after a response, `status`. In NDJSON each row has `run`. CSV and TSV have the same fields as
 * columns, with the message of the error. A table leaves out columns without content.
 * @param options `changedOnly` leaves unchanged rows out of all formats, not only of a table; `names` are the store's
 * names of pets, for a table
 */
export function bulkReportView(
  report: BulkReport,
  { changedOnly = false, names }: { readonly changedOnly?: boolean; readonly names?: PetNames | undefined } = {},
): View {
  const { run, env, dryRun } = report;
  const rows = changedOnly ? report.rows.filter((row) => !isIdle(row)) : report.rows;
  return {
    shape: 'list',
    isWordy: true,
    columns,
    rows: batchesOf(() => rows, toRow),
    head: { run, env, dryRun, counts: countRows(report.rows, report.uncounted) },
    inLines: { run },
    table: async () => tableOf(rows, names),
  };
}

function toRow({ line, petId, before, after, result, quantity, error }: BulkRow): Row {
  // A row that was not edited differs from an unchanged row only in the counts.
  return { line, petId, before, after, result: result === 'notEdited' ? 'unchanged' : result, quantity, error };
}

const error: Column = { field: 'error', title: 'Error', foreign: 'words', under: true };
/** `quantity` comes last, so that the other fields keep their positions in TSV. */
const columns: readonly Column[] = [
  ...plainColumns(['line', 'petId', 'before', 'after', 'result']),
  { ...errorColumn, isLeftOut: true },
  { field: 'quantity', title: 'Quantity', isLeftOut: true },
];

/**
 * Returns the table of a report. `after` is the stock after the run; the stock that could not be written is in a column
 * of its own.
 */
function tableOf(rows: readonly BulkRow[], names: PetNames | undefined): Grid {
  const shown = rows.filter((row) => !isIdle(row));
  const wanted = shown.some(isWrong) ? [countColumn('wanted', 'Wanted')] : [];
  // The line in the file matters only if something is wrong with its row.
  const lines = shown.some(isWrong) ? [number('line', 'Line')] : [];
  const isWritten = shown.some((row) => !isWrong(row)) || wanted.length === 0;
  const faults = shown.some((row) => problemText(row) !== undefined) ? [error] : [];
  const named = shown.some(({ petId }) => names?.get(petId) !== undefined) ? [nameColumn] : [];
  const toTableRow = (row: BulkRow): Row => {
    const { after: target = null, quantity = null } = row;
    const wrong = isWrong(row);
    const stock = { after: wrong ? quantity : target, wanted: wrong ? target : null };
    return { ...toRow(row), ...stock, name: names?.get(row.petId), error: problemText(row) };
  };
  return {
    columns: [
      ...[...lines, number('petId', 'Pet ID'), countColumn('before', 'Before')],
      ...(isWritten ? [countColumn('after', 'After')] : []),
      ...wanted,
      { field: 'result', title: 'Result', whole: true, cell: resultCell },
      ...named,
      ...faults,
    ],
    rows: batchesOf(() => shown, toTableRow),
  };
}
