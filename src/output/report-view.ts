import type { PetNames } from '../inventory/bar-codes.ts';
import {
  type BulkCounts,
  type BulkReport,
  type BulkRow,
  countRows,
  isIdle,
  isWrong,
  type RowError,
  type RowResult,
  rowResults,
} from '../inventory/change.ts';
import { grouped } from '../inventory/items.ts';
import { countColumn, nameColumn, numberColumn as number } from './columns.ts';
import type { Paint } from './terminal.ts';
import { batchesOf, type Column, type Grid, plainColumns, type Row, type Scalar, type View } from './view.ts';

/**
 * Returns the number of rows by result as a sentence: `1,195 applied, 3 unchanged, 2 failed.` Lists only results that
 * occur.
 * @param uncounted counts of further rows
 */
export function countsSentence(rows: Iterable<Pick<BulkRow, 'result'>>, uncounted: Partial<BulkCounts> = {}): string {
  const counts = new Map(Object.entries(uncounted));
  for (const { result } of rows) counts.set(result, (counts.get(result) ?? 0) + 1);
  const parts = rowResults.flatMap((result) => {
    const count = counts.get(result) ?? 0;
    return count === 0 ? [] : [`${grouped(count)} ${resultWord(result, count)}`];
  });
  return `${parts.join(', ') || 'No rows'}.`;
}

interface ResultStyle {
  readonly color: 'green' | 'dim' | 'red' | 'yellow' | 'cyan';
  /** The word for the result, if it differs from the result itself. */
  readonly word?: string;
  /** The words after a count, for one row and for several. Default: the word for the result. */
  readonly counted?: readonly [one: string, several: string];
}

const resultStyles: Readonly<Record<RowResult | 'pending', ResultStyle>> = {
  planned: { color: 'cyan', counted: ['change', 'changes'] },
  applied: { color: 'green' },
  unchanged: { color: 'dim' },
  notEdited: { color: 'dim', word: 'not edited' },
  skipped: { color: 'dim' },
  failed: { color: 'red' },
  conflict: { color: 'yellow', counted: ['conflict', 'conflicts'] },
  notAttempted: { color: 'dim', word: 'not attempted' },
  pending: { color: 'dim' },
  unknown: { color: 'yellow' },
  differs: { color: 'yellow', counted: ['differs', 'differ'] },
};

/** Returns the word for a number of rows with a result: `conflicts`. */
export function resultWord(result: RowResult | 'pending', count: number): string {
  const { word = result, counted } = resultStyles[result];
  return counted?.[count === 1 ? 0 : 1] ?? word;
}

export function resultCell(value: Scalar, _row: Row, paint: Paint): string {
  const style = (resultStyles as Readonly<Record<string, ResultStyle>>)[`${value}`];
  return style === undefined ? `${value ?? ''}` : paint[style.color](style.word ?? `${value}`);
}

/** The error of a row, of which CSV and TSV have the message. */
export const errorColumn: Column = {
  field: 'error',
  title: 'error',
  flat: [{ field: 'error', title: 'error', value: ({ error }) => (error as RowError | undefined)?.message }],
};

/** Returns what a person must know about a row in addition to its numbers; undefined if there is nothing. */
export function problemText({ result, quantity, error }: RowProblem): string | undefined {
  const parts: string[] = [];
  if (result === 'unknown') parts.push('not known whether it was written');
  if (result === 'differs' && quantity !== undefined) parts.push(`the service wrote ${grouped(quantity)}`);
  // An interruption is mentioned once, below the rows that were not attempted because of it.
  if (error !== undefined && error.code !== 'interrupted') parts.push(error.message);
  return parts.length === 0 ? undefined : parts.join(': ');
}

interface RowProblem {
  readonly result: string;
  readonly quantity?: number | undefined;
  readonly error?: RowError | undefined;
}

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
  { ...errorColumn, omitsAbsent: true },
  { field: 'quantity', title: 'Quantity', omitsAbsent: true },
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
