import type { PetNames } from '../inventory/bar-codes.ts';
import { grouped } from '../inventory/grouped.ts';
import type { RecordedRow, RunRecord } from '../inventory/run-records.ts';
import { singleLine } from '../shared/sanitize.ts';
import { whereName, whereOptions } from '../shared/where.ts';
import { batchesOf } from './batches.ts';
import { countColumn, counted, faultText, numberColumn as number, resultCell } from './change-rows.ts';
import { rowJson, runJson, unitsText, writtenRows } from './history-list-view.ts';
import { localMinute } from './time.ts';
import type { Column, Grid, Row, View } from './view.ts';

/** Returns the lines above the table of one run, without control characters; its reason is not among them. */
export function historyRunLines(facts: RunRecord): string[] {
  const { run, at, env, store, baseUrl, command, user, host, file, undoes, undoneBy } = facts;
  const from = file === undefined ? '' : `, from ${file === '-' ? 'stdin' : file}`;
  const where = whereName({ store, env });
  const lines = [
    `Run ${run}: ${command}${from}`,
    `${localMinute(at)} by ${user === undefined ? '' : `${user} on `}${host}, ${where} (${baseUrl})`,
    writtenText(facts),
    ...(undoes === undefined ? [] : [`Undoes run ${undoes}`]),
    ...(undoneBy.length === 0 ? [] : [`${undoneText(facts)} by run ${undoneBy.join(', ')}`]),
  ];
  return lines.map(singleLine);
}

/** `29 changes, 120 units`; of a run that was not written whole `14 of 29 changes written`. */
function writtenText(facts: RunRecord): string {
  const written = writtenRows(facts);
  if (written < facts.changes) return `${grouped(written)} of ${counted(facts.changes, 'change')} written`;
  return `${counted(facts.changes, 'change')}, ${unitsText(facts)}`;
}

function undoneText({ counts, undone }: RunRecord): string {
  const written = counts.applied + counts.differs + counts.unknown;
  return undone >= written ? 'Undone' : `${grouped(undone)} of ${grouped(written)} rows undone`;
}

/** Returns how to continue a run, and how to undo it: sentences with a command, if there is something to do. */
export function historyRunHints({ run, env, store, state, counts, undone }: RunRecord): string[] {
  if (state === 'running') return [];
  const where = ` ${whereOptions({ store, env })}`;
  const open = counts.pending + counts.unknown;
  const written = counts.applied + counts.differs;
  return [
    ...(open === 0 ? [] : [`To resume: petstock inventory apply --resume ${run}${where}`]),
    ...(undone >= written ? [] : [`To undo: petstock undo ${run}${where}`]),
  ];
}

/**
 * The rows of one run for `history show`: JSON is the run as in the list, with its `rows`. A table leaves out columns with
 * nothing in them; it reads the rows twice for that.
 *
 * @param now for the page to print, milliseconds since the Unix epoch
 */
export function historyRunView(
  facts: RunRecord,
  rows: () => AsyncIterable<RecordedRow>,
  { names, now }: { readonly names?: PetNames | undefined; readonly now?: number } = {},
): View {
  const reason = facts.reason === undefined ? [] : [`Reason: ${facts.reason}`];
  const printed = now === undefined ? [] : [`Printed ${localMinute(now)}`];
  return {
    shape: 'list',
    isWordy: true,
    columns: rowColumns,
    rows: batchesOf(rows, toRow),
    document: { head: runJson(facts), rows: batchesOf(rows, rowJson) },
    table: () => runTable(rows, names),
    page: {
      title: `${whereName(facts)}: ${facts.command}`,
      facts: [...historyRunLines(facts), ...reason, ...printed],
      mark: ({ result }) => (result === 'applied' || result === 'unchanged' ? undefined : 'bad'),
    },
  };
}

function toRow(facts: RecordedRow): Row {
  return { ...rowJson(facts), error: facts.error?.message ?? null };
}

export const rowFields = [
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
];
const rowColumns: readonly Column[] = rowFields.map((field) => ({ field, title: field }));

/** What a table always has. */
const alwaysShown = ['row', 'petId', 'before', 'after', 'result'];
const tableColumns: readonly Column[] = [
  number('row', 'Row'),
  number('line', 'Line'),
  number('petId', 'Pet ID'),
  { field: 'name', title: 'Name', foreign: true },
  countColumn('before', 'Before'),
  countColumn('after', 'After'),
  countColumn('wanted', 'Wanted'),
  { field: 'result', title: 'Result', whole: true, cell: resultCell },
  countColumn('quantity', 'Found'),
  { field: 'error', title: 'Error', foreign: true },
  { field: 'undoneBy', title: 'Undone by', whole: true },
  { field: 'reason', title: 'Reason', foreign: true },
  { field: 'ref', title: 'Ref', foreign: true },
];

async function runTable(rows: () => AsyncIterable<RecordedRow>, names: PetNames | undefined): Promise<Grid> {
  const seen = new Set<string>(alwaysShown);
  for await (const facts of rows()) {
    for (const [field, value] of Object.entries(tableRow(facts, names))) if (value !== null) seen.add(field);
  }
  return {
    columns: tableColumns.filter(({ field }) => seen.has(field)),
    rows: batchesOf(rows, (facts) => tableRow(facts, names)),
  };
}

/** The stock after a row that was not written is what was wanted. A stock that was found is shown if it is another. */
function tableRow(facts: RecordedRow, names: PetNames | undefined): Row {
  const { row, line, petId, before = null, after, result, quantity = null, reason = null, ref = null } = facts;
  const isWritten = result === 'applied' || result === 'unchanged' || result === 'differs';
  return {
    ...{ row, line: line === row ? null : line, petId, name: names?.get(petId) ?? null, before, result },
    after: isWritten ? (quantity ?? after) : null,
    wanted: isWritten && (quantity ?? after) === after ? null : after,
    quantity: isWritten || quantity === after ? null : quantity,
    error: faultText({ ...facts, quantity: undefined }) ?? null,
    undoneBy: facts.undoneBy?.slice(-4) ?? null,
    ...{ reason, ref },
  };
}
