import type { PetNames } from '../inventory/bar-codes.ts';
import { counted, grouped } from '../inventory/items.ts';
import type { RecordedRow, RunRecord, SettledRow } from '../inventory/run-records.ts';
import { petstock, targetWords } from '../shared/hint.ts';
import { plainName, singleLine } from '../shared/sanitize.ts';
import { targetName } from '../shared/target.ts';
import { batchesOf } from './batches.ts';
import { errorColumn, problemText, resultCell } from './change-rows.ts';
import { countColumn, nameColumn, numberColumn as number } from './columns.ts';
import { exportIdentity, rowJson, runJson, unitsText, writtenRows } from './history-list-view.ts';
import { localMinute } from './time.ts';
import { type Column, type Grid, plainColumns, type Row, type View } from './view.ts';

/** Returns lines about a run: `own` are petstock's; `words` quote other people, so the caller puts a bar in front. */
export function historyRunFacts(facts: RunRecord) {
  const { run, at, env, store, baseUrl, command, user, host, file, reason, undoes, undoneBy } = facts;
  const from = file === undefined ? '' : `, from ${file === '-' ? 'stdin' : file}`;
  const runs = undoneBy.length === 1 ? 'run' : 'runs';
  const own = [
    `Run ${run}: ${command}`,
    `${localMinute(at)}, ${targetName({ store, env })}`,
    facts.isDiscarded ? `${writtenText(facts)}; discarded` : writtenText(facts),
    ...(undoes === undefined ? [] : [`Undoes run ${plainName(undoes)}`]),
    ...(undoneBy.length === 0 ? [] : [`${undoneText(facts)} by ${runs} ${undoneBy.map(plainName).join(', ')}`]),
  ];
  const words = [
    `By ${user === undefined ? '' : `${user} on `}${host}${from}`,
    `At ${baseUrl}`,
    ...(reason === undefined ? [] : [reason]),
  ];
  return { own: own.map(singleLine), words: words.map(singleLine) };
}

/** Returns `29 changes, 120 units`, or, if not all were written, `14 of 29 changes written, 2 unknown`. */
export function writtenText(facts: RunRecord): string {
  const written = writtenRows(facts);
  const { unknown } = facts.counts;
  const unclear = unknown === 0 ? '' : `, ${grouped(unknown)} unknown`;
  if (written < facts.changes) return `${grouped(written)} of ${counted(facts.changes, 'change')} written${unclear}`;
  return `${counted(facts.changes, 'change')}, ${unitsText(facts)}`;
}

function undoneText({ counts, undone }: RunRecord): string {
  const written = counts.applied + counts.differs + counts.unknown;
  return undone >= written ? 'Undone' : `${grouped(undone)} of ${grouped(written)} rows undone`;
}

/**
 * Returns how to resume a run and how to undo it, if that is possible, as sentences with a command.
 * @param isBlind whether the stock before the run is not known
 */
export function historyRunHints({ run, env, store, state, counts, undone }: RunRecord, isBlind = false): string[] {
  if (state === 'running') return [];
  const where = targetWords({ store, env });
  const isOpen = state === 'incomplete';
  const written = counts.applied + counts.differs;
  return [
    ...(isOpen ? [`To resume: ${petstock`inventory apply --resume ${run} ${where}`}`] : []),
    ...(isBlind || undone >= written ? [] : [`Undo: ${petstock`undo ${run} ${where}`}`]),
  ];
}

/**
 * Returns the view of the rows of one run for `history show`. JSON is the run as in the list, with its `rows`. To leave
 * out empty columns, a table reads the rows twice.
 * @param options `now` is the time of printing for a page, in milliseconds since the Unix epoch
 */
export function historyRunView(
  facts: RunRecord,
  rows: () => AsyncIterable<RecordedRow>,
  { names, now }: { readonly names?: PetNames | undefined; readonly now?: number } = {},
): View {
  const { own, words } = historyRunFacts(facts);
  const printed = now === undefined ? [] : [`Printed ${localMinute(now)}`];
  return {
    shape: 'list',
    isWordy: true,
    columns: rowColumns,
    rows: batchesOf(rows, rowJson),
    head: runJson(facts),
    inLines: { run: facts.run },
    table: () => runTable(facts, rows, names),
    page: {
      title: `${targetName(facts)}: ${facts.command}`,
      facts: [...own, ...words, ...printed],
      mark: ({ result }) => (result === 'applied' || result === 'unchanged' ? undefined : 'bad'),
    },
  };
}

const rowColumns: readonly Column[] = [
  ...plainColumns(['row', 'line', 'petId', 'before', 'after', 'result', 'quantity']),
  errorColumn,
  ...plainColumns(['reason', 'ref', 'at']),
];

/** The fields of a row, for completion. */
export const rowFields = rowColumns.map(({ field }) => field);

const alwaysShown = ['petId', 'before', 'after', 'result'];
const tableColumns: readonly Column[] = [
  number('row', 'Row'),
  number('line', 'Line'),
  number('petId', 'Pet ID'),
  countColumn('before', 'Before'),
  countColumn('after', 'After'),
  countColumn('wanted', 'Wanted'),
  { field: 'result', title: 'Result', whole: true, cell: resultCell },
  countColumn('quantity', 'Found'),
  { field: 'error', title: 'Error', foreign: 'words', under: true },
  { field: 'undoneBy', title: 'Undone by', whole: true },
  { field: 'reason', title: 'Reason', foreign: 'words' },
  { field: 'ref', title: 'Ref', foreign: 'words' },
  nameColumn,
];

async function runTable(
  run: RunRecord,
  rows: () => AsyncIterable<RecordedRow>,
  names: PetNames | undefined,
): Promise<Grid> {
  const seen = new Set<string>(alwaysShown);
  let hasLines = false;
  for await (const facts of rows()) {
    hasLines ||= facts.line !== facts.row;
    for (const [field, value] of Object.entries(tableRow(run, facts, names))) if (value !== null) seen.add(field);
  }
  // One number for a row is enough: that of its line, if any row has another number than its line.
  seen.delete(hasLines ? 'row' : 'line');
  return {
    columns: tableColumns.filter(({ field }) => seen.has(field)),
    rows: batchesOf(rows, (facts) => tableRow(run, facts, names)),
  };
}

/**
 * Returns a row of the table. `after` is the resulting stock of a row that was written or unchanged. `wanted` is the
 * requested stock, unless it is the result. `quantity` is the stock that was found in any other row.
 */
function tableRow(run: RunRecord, facts: RecordedRow, names: PetNames | undefined): Row {
  const { row, line, petId, before = null, after, result, quantity = null, reason = null, ref = null } = facts;
  const isWritten = result === 'applied' || result === 'unchanged' || result === 'differs';
  return {
    ...{ row, line, petId, name: names?.get(petId) ?? null, before, result },
    after: isWritten ? (quantity ?? after) : null,
    wanted: isWritten && (quantity ?? after) === after ? null : after,
    quantity: isWritten || quantity === after ? null : quantity,
    error: problemText({ ...facts, quantity: undefined }) ?? null,
    undoneBy: facts.undoneBy?.slice(-4) ?? null,
    // The reason of the run is above the table.
    reason: reason === run.reason ? null : reason,
    ref,
  };
}

const exportColumns: readonly Column[] = [
  ...plainColumns(['run', 'env', 'store', 'baseUrl', 'command', 'user', 'host', 'file', 'undoes', 'runAt']),
  ...rowColumns,
  ...plainColumns(['seq']),
];

/**
 * Returns the view for `history export`: rows in the order in which they were settled, each with the properties of its
 * run; never shown as a table. JSON has the whole error of a row, CSV and TSV its message. `seq` grows from row to row,
 * so a program can load only the rows after the last `seq` it has. Such a program never reads a row again, so a row
 * contains nothing that a later run may change, such as who has undone it.
 */
export function historyExportView(rows: () => AsyncIterable<SettledRow>): View {
  const toRow = ({ run, row }: SettledRow): Row => ({
    ...exportIdentity(run),
    ...rowJson(row),
    seq: row.outcome ?? null,
  });
  return { shape: 'list', columns: exportColumns, rows: batchesOf(rows, toRow) };
}
