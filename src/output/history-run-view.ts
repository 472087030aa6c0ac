import { grouped } from '../inventory/grouped.ts';
import type { RecordedRow, RunRecord } from '../inventory/run-records.ts';
import { singleLine } from '../shared/sanitize.ts';
import { whereName, whereOptions } from '../shared/where.ts';
import { batchesOf } from './batches.ts';
import { countColumn, counted, faultText, numberColumn as number, resultCell } from './change-rows.ts';
import { unitsText } from './history-list-view.ts';
import { rowJson, runJson } from './run-json.ts';
import { localMinute } from './time.ts';
import type { Column, Grid, Row, View } from './view.ts';

/** What stands above the table of one run: lines without control characters. */
export function historyRunLines(facts: RunRecord): string[] {
  const { run, at, env, store, baseUrl, command, user, host, file, reason, undoes, undoneBy } = facts;
  const from = file === undefined ? '' : `, from ${file === '-' ? 'stdin' : file}`;
  const where = whereName({ store, env });
  const lines = [
    `Run ${run}: ${command}${from}`,
    `${localMinute(at)} by ${user === undefined ? '' : `${user} on `}${host}, ${where} (${baseUrl})`,
    `${counted(facts.changes, 'change')}, ${unitsText(facts)}${reason === undefined ? '' : `: ${reason}`}`,
    ...(undoes === undefined ? [] : [`Takes back run ${undoes}`]),
    ...(undoneBy.length === 0 ? [] : [`${takenBack(facts)} by run ${undoneBy.join(', ')}`]),
  ];
  return lines.map(singleLine);
}

function takenBack({ counts, undone }: RunRecord): string {
  const written = writtenRows(counts);
  return undone >= written ? 'Taken back' : `${grouped(undone)} of ${grouped(written)} rows taken back`;
}

/** Rows that an undo takes back, or may. */
function writtenRows({ applied, differs, unknown }: RunRecord['counts']): number {
  return applied + differs + unknown;
}

/** How to go on with a run, and how to take it back: sentences with a command, where there is something to do. */
export function historyRunHints({ run, env, store, state, counts, undone }: RunRecord): string[] {
  if (state === 'running') return [];
  const where = ` ${whereOptions({ store, env })}`;
  const open = counts.pending + counts.unknown;
  const written = counts.applied + counts.differs;
  return [
    ...(open === 0 ? [] : [`To resume: petstock inventory apply --resume ${run}${where}`]),
    ...(undone >= written ? [] : [`To take it back: petstock undo ${run}${where}`]),
  ];
}

/**
 * The rows of one run for `history show`: JSON is the run as in the list, with its `rows`. A table leaves out columns in
 * which nothing stands; it reads the rows twice for that.
 */
export function historyRunView(facts: RunRecord, rows: () => AsyncIterable<RecordedRow>): View {
  return {
    shape: 'list',
    isWordy: true,
    columns: rowColumns,
    rows: batchesOf(rows, toRow),
    document: { head: runJson(facts), rows: batchesOf(rows, rowJson) },
    table: () => runTable(rows),
  };
}

function toRow(facts: RecordedRow): Row {
  return { ...rowJson(facts), error: facts.error?.message ?? null };
}

const rowColumns: readonly Column[] = [
  number('row', 'Row'),
  number('line', 'Line'),
  number('petId', 'Pet ID'),
  countColumn('before', 'Before'),
  countColumn('after', 'After'),
  { field: 'result', title: 'Result', whole: true, cell: resultCell },
  countColumn('quantity', 'Found'),
  { field: 'error', title: 'Error' },
  { field: 'reason', title: 'Reason' },
  { field: 'ref', title: 'Ref' },
  { field: 'at', title: 'At', whole: true },
];

async function runTable(rows: () => AsyncIterable<RecordedRow>): Promise<Grid> {
  const seen = new Set<string>();
  for await (const facts of rows()) {
    const { row, line, after, quantity, reason, ref } = facts;
    if (row !== line) seen.add('line');
    if (quantity !== undefined && quantity !== after) seen.add('quantity');
    if (reason !== undefined) seen.add('reason');
    if (ref !== undefined) seen.add('ref');
    if (tableFault(facts) !== undefined) seen.add('error');
  }
  const always = ['row', 'petId', 'before', 'after', 'result'];
  const toTableRow = (facts: RecordedRow): Row => ({ ...toRow(facts), error: tableFault(facts) ?? null });
  return {
    columns: rowColumns.filter(({ field }) => always.includes(field) || seen.has(field)),
    rows: batchesOf(rows, toTableRow),
  };
}

/** What was written otherwise stands in the column for what was found. */
function tableFault(facts: RecordedRow): string | undefined {
  const fault = faultText({ ...facts, quantity: undefined });
  if (facts.undoneBy === undefined) return fault;
  return [...(fault === undefined ? [] : [fault]), `taken back by ${facts.undoneBy}`].join('; ');
}
