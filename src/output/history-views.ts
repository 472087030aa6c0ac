import type { PetNames } from '../inventory/bar-codes.ts';
import { countRows } from '../inventory/change.ts';
import { counted, grouped } from '../inventory/items.ts';
import { type PetTotals, writtenChange } from '../inventory/pet-totals.ts';
import type { RecordedRow, RunRecord, SettledRow } from '../inventory/run-records.ts';
import { petstock, type Target, targetName, targetWords } from '../shared/hint.ts';
import { plainName, singleLine } from '../shared/sanitize.ts';
import { countColumn, differenceCell, nameColumn, numberColumn as number, numberColumn } from './columns.ts';
import { errorColumn, problemText, resultCell, resultWord } from './report-view.ts';
import { isoTime, localMinute, shortTime } from './time.ts';
import {
  batchesOf,
  type Column,
  flatColumns,
  type Grid,
  type Page,
  plainColumns,
  type Row,
  type View,
} from './view.ts';

export interface HistoryListOptions {
  rows(run: string): AsyncIterable<RecordedRow>;
  /** Whether several machines may have written the runs, so that a table names the machines. */
  readonly isShared?: boolean;
  readonly names?: PetNames | undefined;
  /** The target of the command. A table leaves out the column of the target if all runs belong to this target. */
  readonly target: string;
  /** The present time, in milliseconds since the Unix epoch. */
  readonly now: number;
  readonly page?: Page;
}

/**
 * Returns the view of runs for `history list`, in the given order. Runs are streamed, and never held as a whole. In
 * JSON, absent fields are null; CSV and TSV have the same values in flat columns.
 */
export function historyListView(runs: () => AsyncIterable<RunRecord>, options: HistoryListOptions): View {
  return {
    shape: 'list',
    isWordy: true,
    columns: runColumns,
    rows: batchesOf(runs, runJson),
    table: {
      columns: tableColumns.map((column) => (column === envColumn ? { ...column, usual: options.target } : column)),
      rows: tableRows(runs, options),
    },
    ...(options.page && { page: options.page }),
  };
}

/** The fields for the counts of a run: those of a report, in its order, and `pending`. */
const countFields = [...Object.keys(countRows([])), 'pending'];

const runColumns: readonly Column[] = [
  ...plainColumns(['run', 'at', 'env', 'store', 'baseUrl', 'command', 'user', 'host', 'file', 'reason', 'undoes']),
  listColumn('undoneBy'),
  ...plainColumns(['changes', 'units']),
  listColumn('pets'),
  { field: 'counts', title: 'counts', flat: countFields.map(countOfRun) },
  ...plainColumns(['state']),
];

/** The fields of a run, for completion. */
export const runFields = flatColumns(runColumns).map(({ field }) => field);

/** Returns a column whose lists CSV and TSV have as one text. */
function listColumn(field: string): Column {
  const value = (row: Row) => (row[field] as readonly unknown[]).join(' ');
  return { field, title: field, flat: [{ field, title: field, value }] };
}

function countOfRun(field: string): Column {
  return { field, title: field, value: ({ counts }) => (counts as Readonly<Record<string, number>>)[field] };
}

/** Number of characters of a run id in a table. Commands accept these last characters instead of the whole id. */
const shownOfRun = 4;

const envColumn: Column = { field: 'env', title: 'Env', foreign: 'name' };

const tableColumns: readonly Column[] = [
  { field: 'at', title: 'At', whole: true },
  { field: 'change', title: 'Change' },
  { field: 'command', title: 'Command', foreign: 'name', dropRank: 1 },
  {
    field: 'result',
    title: 'Result',
    cell: (value, row, paint) => (row.whole === true ? `${value}` : paint.yellow(`${value}`)),
  },
  { field: 'run', title: 'Run', whole: true, cell: (value, _row, paint) => paint.cyan(`${value}`) },
  envColumn,
  { field: 'by', title: 'By', foreign: 'name', dropRank: 2 },
  { field: 'ref', title: 'Ref', foreign: 'name', dropRank: 3 },
  { field: 'reason', title: 'Reason', foreign: 'words', dropRank: 5 },
  { ...nameColumn, dropRank: 4 },
];

async function* tableRows(
  runs: () => AsyncIterable<RunRecord>,
  { rows, now, names, isShared }: HistoryListOptions,
): AsyncGenerator<readonly Row[]> {
  for await (const facts of runs()) {
    const { run, at, env, store, command, user, host, reason = null } = facts;
    const shown = { at: shortTime(at, now), command: command.replace(/^inventory /, ''), reason };
    const by = user === undefined ? host : isShared ? `${user}@${host}` : user;
    const origin = { run: run.slice(-shownOfRun), env: targetName({ store, env }), by };
    yield [{ ...shown, ...origin, ...resultOf(facts), ...(await shownChange(facts, rows, names)) }];
  }
}

/** Maximum number of rows that are read to describe a run. A longer run is described by its pet and unit counts. */
const maxRead = 1000;

/**
 * Returns what a run has changed: for one pet the stock before and after, for several pets the units added and removed.
 * Also returns the reference, if all rows share one, and the name of a single pet.
 */
async function shownChange(run: RunRecord, rowsOf: HistoryListOptions['rows'], names: PetNames | undefined) {
  const pets = counted(run.changes, 'pet');
  if (run.changes > maxRead) {
    return { change: writtenRows(run) === run.changes ? pets + unitsText(': ', run) : pets, ref: null, name: null };
  }
  let [first, added, removed]: [RecordedRow | undefined, bigint, bigint] = [undefined, 0n, 0n];
  const refs = new Set<string | undefined>();
  for await (const row of rowsOf(run.run)) {
    first ??= row;
    refs.add(row.ref);
    const by = writtenChange(row) ?? 0n;
    if (by > 0n) added += by;
    else removed -= by;
  }
  const [ref] = refs.size === 1 ? refs : [];
  if (first !== undefined && run.changes === 1) {
    return { change: onePetText(first), ref: ref ?? null, name: names?.get(first.petId) ?? null };
  }
  const moved = [...(added > 0n ? [`+${grouped(added)}`] : []), ...(removed > 0n ? [`\u2212${grouped(removed)}`] : [])];
  return { change: moved.length === 0 ? pets : `${pets}: ${moved.join(' ')}`, ref: ref ?? null, name: null };
}

/** Returns the change of a run with one row: `22: 2 → 3`. */
function onePetText({ petId, before, after, result, quantity }: RecordedRow): string {
  const written = result === 'differs' && quantity !== undefined ? quantity : after;
  return `${petId}: ${before === undefined ? '?' : grouped(before)} → ${grouped(written)}`;
}

/** Returns the number of units behind a separator: `, 120 units`; nothing if it is not known. */
function unitsText(separator: string, { units }: Pick<RunRecord, 'units'>): string {
  return units === undefined ? '' : `${separator}${grouped(units)} ${units === 1n ? 'unit' : 'units'}`;
}

function writtenRows({ counts }: Pick<RunRecord, 'counts'>): number {
  return counts.applied + counts.differs;
}

function possiblyWritten(facts: RunRecord): number {
  return writtenRows(facts) + facts.counts.unknown;
}

const faultyResults = ['unknown', 'differs', 'pending', 'failed', 'conflict'] as const;

/** Returns the result of a run in words. `whole`: the run is done, every row succeeded and none was undone. */
function resultOf(facts: RunRecord): { readonly result: string; readonly whole: boolean } {
  const { counts, changes, undone, state, isDiscarded } = facts;
  const { applied, pending } = counts;
  if (state !== 'running' && changes > 0 && pending === changes) return { result: 'nothing applied', whole: false };
  if (undone > 0 && undone >= possiblyWritten(facts)) return { result: 'undone', whole: false };
  const some = (count: number, words: string) =>
    count === 0 ? [] : [changes === 1 ? words : `${grouped(count)} ${words}`];
  const faults = [
    ...some(undone, 'undone'),
    ...faultyResults.flatMap((result) => some(counts[result], resultWord(result, counts[result]))),
  ];
  const done =
    faults.length > 0 && changes > 1
      ? [`${grouped(applied)} of ${grouped(changes)} applied`]
      : some(applied, 'applied');
  if (state === 'done' && !isDiscarded) {
    return { result: [...faults, ...done].join(', ') || 'unchanged', whole: faults.length === 0 };
  }
  // The progress matters most, so it is truncated last.
  return { result: [...done, isDiscarded ? 'discarded' : state, ...faults].join(', '), whole: false };
}

/** Returns the properties that a run has from its beginning, with null for absent values. */
function runIdentity({ run, at, env, baseUrl, command, host, ...facts }: RunRecord) {
  const { store = null, user = null, file = null, reason = null, undoes = null } = facts;
  return { run, at: isoTime(at), env, store, baseUrl, command, user, host, file, reason, undoes };
}

/** Returns the counts of a run with all fields of a report. `notAttempted` is 0: such rows are pending here. */
function runCounts({ counts }: RunRecord) {
  return { ...countRows([]), ...counts };
}

function runJson(facts: RunRecord): Row {
  const { undoneBy, changes, units = null, pets, state } = facts;
  return { ...runIdentity(facts), undoneBy, changes, units, pets, counts: runCounts(facts), state };
}

/** Returns the view of one run for programs, with the fields of the list. */
export function historyRecordView(run: RunRecord): View {
  return { shape: 'one', columns: runColumns, rows: [[runJson(run)]] };
}

/** Returns a row for programs. */
function rowJson({ at, ...facts }: RecordedRow) {
  return { ...facts, at: at === undefined ? undefined : isoTime(at) };
}

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
  return counted(facts.changes, 'change') + unitsText(', ', facts);
}

function undoneText(facts: RunRecord): string {
  const [undone, written] = [facts.undone, possiblyWritten(facts)];
  return undone >= written ? 'Undone' : `${grouped(undone)} of ${grouped(written)} rows undone`;
}

/**
 * Returns how to resume a run and how to undo it, if that is possible, as sentences with a command.
 * @param isBlind whether the stock before the run is not known
 */
export function historyRunHints(facts: RunRecord, isBlind = false): string[] {
  const { run, env, store, state, undone } = facts;
  if (state === 'running') return [];
  const where = targetWords({ store, env });
  return [
    ...(state === 'incomplete' ? [`To resume: ${petstock`inventory apply --resume ${run} ${where}`}`] : []),
    ...(isBlind || undone >= writtenRows(facts) ? [] : [`Undo: ${petstock`undo ${run} ${where}`}`]),
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
const rowTableColumns: readonly Column[] = [
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
    for (const [field, value] of Object.entries(rowOfTable(run, facts, names))) if (value !== null) seen.add(field);
  }
  // One number for a row is enough: that of its line, if any row has another number than its line.
  seen.delete(hasLines ? 'row' : 'line');
  return {
    columns: rowTableColumns.filter(({ field }) => seen.has(field)),
    rows: batchesOf(rows, (facts) => rowOfTable(run, facts, names)),
  };
}

/**
 * Returns a row of the table. `after` is the resulting stock of a row that was written or unchanged. `wanted` is the
 * requested stock, unless it is the result. `quantity` is the stock that was found in any other row.
 */
function rowOfTable(run: RunRecord, facts: RecordedRow, names: PetNames | undefined): Row {
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
  const toRow = ({ run, row }: SettledRow): Row => {
    const { at: runAt, reason: _reason, ...identity } = runIdentity(run);
    return { ...identity, runAt, ...rowJson(row), seq: row.outcome };
  };
  return { shape: 'list', columns: exportColumns, rows: batchesOf(rows, toRow) };
}

/** The totals of a pet, with its name and its last stock, if they are known. */
export interface ShownTotals extends PetTotals {
  readonly name: string | undefined;
  readonly now: number | undefined;
}

const fields = ['petId', 'name', 'in', 'out', 'counted', 'unknown', 'now', 'env', 'store'];

/**
 * Returns the view of `history totals`. JSON is a list of
 * `{"petId","name","in","out","counted","unknown","now","env","store"}`.
 * @param options `target` is the target of the command; a table leaves out a column that only repeats it
 */
export function totalsView(totals: readonly ShownTotals[], { target, page }: { target: string; page: Page }): View {
  const hasUnknown = totals.some(({ unknown }) => unknown > 0);
  const columns: Column[] = [
    numberColumn('petId', 'Pet ID'),
    nameColumn,
    countColumn('in', 'Came in'),
    countColumn('out', 'Went out'),
    {
      ...numberColumn('counted', 'Counted'),
      cell: (value, row, paint) => (value === 0n ? '0' : differenceCell(value, row, paint)),
    },
    ...(hasUnknown ? [countColumn('unknown', 'Not known')] : []),
    countColumn('now', 'Now'),
    {
      field: 'env',
      title: 'Env',
      foreign: 'name',
      usual: target,
      value: ({ env, store }) => targetName({ env, store } as Target),
    },
  ];
  return {
    shape: 'list',
    columns: plainColumns(fields),
    rows: [totals.map((each): Row => ({ ...each }))],
    table: { columns },
    page,
  };
}
