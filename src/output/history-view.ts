import { grouped } from '../inventory/grouped.ts';
import { singleLine } from '../shared/sanitize.ts';
import { batchesOf, changeRowWriter, errorFields, numberColumn as number, stateCell } from './change-rows.ts';
import type { RecordedRunFacts, RunFacts, RunRowFacts } from './history-facts.ts';
import { recordedTime } from './time.ts';
import type { Column, Row, View } from './view.ts';

/**
 * Runs for `history list`, in the order given. JSON is an array of `{"run","at","env","command","user","file","undoes",
 * "undoneBy":[…],"changes","counts":{"applied","failed","conflict","open","pending"},"state"}`, null where there is none.
 */
export function historyListView(runs: readonly RunFacts[]): View {
  return {
    shape: 'list',
    columns: listColumns,
    rows: [runs.map(toListRow)],
    table: { columns: tableColumns, rows: [runs.map(toTableRow)] },
    json: runs.map(toListJson),
  };
}

function toListJson(facts: RunFacts): object {
  const { run, at, env, command, undoneBy, changes, state } = facts;
  const [user, file, undoes] = [facts.user ?? null, facts.file ?? null, facts.undoes ?? null];
  const { applied, failed, conflict, open, pending } = facts.counts;
  const counts = { applied, failed, conflict, open, pending };
  return { run, at, env, command, user, file, undoes, undoneBy, changes, counts, state };
}

function toListRow(facts: RunFacts): Row {
  const { run, at, env, command, undoneBy, changes, state } = facts;
  const { applied, failed, conflict, open } = facts.counts;
  const user = facts.user ?? null;
  const taken = undoneBy.length === 0 ? null : undoneBy.join(' ');
  return { run, at, env, command, user, changes, applied, failed, conflict, open, state, undoneBy: taken };
}

const listColumns: readonly Column[] = [
  'run',
  'at',
  'env',
  'command',
  'user',
  'changes',
  'applied',
  'failed',
  'conflict',
  'open',
  'state',
  'undoneBy',
].map((field) => ({ field, title: field }));

function toTableRow(facts: RunFacts): Row {
  const { run, at, env, command, planned, counts, state, undone } = facts;
  const { applied, failed, conflict, open, pending } = counts;
  const some = (count: number, words: string) => (count === 0 ? [] : [`${grouped(count)} ${words}`]);
  const amiss = [
    ...(state === 'done' ? [] : [state]),
    ...(undone > 0 && undone >= applied + open ? ['undone'] : some(undone, 'undone')),
    ...some(open, 'not known'),
    ...some(pending, 'not sent'),
    ...some(failed, 'failed'),
    ...some(conflict, conflict === 1 ? 'conflict' : 'conflicts'),
  ];
  const begun = planned || state === 'running';
  const result = begun ? [...amiss, ...some(applied, 'applied')].join(', ') : 'nothing sent';
  const whole = begun && amiss.length === 0;
  return { run, at: recordedTime(at), env, command: command.replace(/^inventory /, ''), result, whole };
}

/** Narrow enough for 80 characters. */
const tableColumns: readonly Column[] = [
  { field: 'run', title: 'Run', whole: true },
  { field: 'at', title: 'At' },
  { field: 'env', title: 'Env', whole: true },
  { field: 'command', title: 'Command', whole: true },
  {
    field: 'result',
    title: 'Result',
    cell: (value, row, paint) => (row.whole === true ? `${value}` : paint.yellow(`${value}`)),
  },
];

/**
 * The rows of one run for `history show`. JSON is `{"run","at","env","baseUrl","command","user","file","undoes",
 * "undoneBy":[…],"rows":[…]}`. A table leaves out columns in which nothing stands.
 */
export function historyRunView(recorded: RecordedRunFacts): View {
  const { run, at, env, baseUrl, command, undoneBy, rows } = recorded;
  const [user, file, undoes] = [recorded.user ?? null, recorded.file ?? null, recorded.undoes ?? null];
  const some = (test: (row: RunRowFacts) => boolean) => rows.some(test);
  const shown: Readonly<Record<string, boolean>> = {
    line: some(({ row, line }) => row !== line),
    quantity: some(({ after, quantity }) => quantity !== undefined && quantity !== after),
    error: some(({ error }) => error !== undefined),
    reason: some(({ reason }) => reason !== undefined),
    ref: some(({ ref }) => ref !== undefined),
  };
  return {
    shape: 'list',
    columns: rowColumns,
    rows: batchesOf(rows, toRow),
    document: {
      head: { run, at, env, baseUrl, command, user, file, undoes, undoneBy },
      row: changeRowWriter(rowColumns),
    },
    table: { columns: rowColumns.filter(({ field }) => shown[field] ?? true), rows: batchesOf(rows, toRow) },
  };
}

function toRow(recorded: RunRowFacts): Row {
  const { row, line, petId, after, state, error } = recorded;
  const [before, quantity] = [recorded.before ?? null, recorded.quantity ?? null];
  const [reason, ref] = [recorded.reason ?? null, recorded.ref ?? null];
  return { row, line, petId, before, after, state, quantity, ...errorFields(error), reason, ref };
}

const rowColumns: readonly Column[] = [
  number('row', 'Row'),
  number('line', 'Line'),
  number('petId', 'Pet ID'),
  number('before', 'Before'),
  number('after', 'After'),
  { field: 'state', title: 'State', whole: true, cell: stateCell },
  number('quantity', 'Found'),
  { field: 'error', title: 'Error' },
  { field: 'reason', title: 'Reason' },
  { field: 'ref', title: 'Ref' },
];

function takenBack({ rows, undone }: RecordedRunFacts): string {
  const written = rows.filter(({ state }) => state === 'applied' || state === 'open').length;
  return undone >= written ? 'Taken back' : `${grouped(undone)} of ${grouped(written)} rows taken back`;
}

/** What stands above the table of one run: lines without control characters. */
export function historyRunLines(recorded: RecordedRunFacts): string[] {
  const { run, at, env, baseUrl, command, user, file, undoes, undoneBy } = recorded;
  const from = file === undefined ? '' : `, from ${file === '-' ? 'stdin' : file}`;
  const lines = [
    `Run ${run}: ${command}${from}`,
    `${recordedTime(at)}${user === undefined ? '' : ` by ${user}`}, ${env} (${baseUrl})`,
    ...(undoes === undefined ? [] : [`Takes back run ${undoes}`]),
    ...(undoneBy.length === 0 ? [] : [`${takenBack(recorded)} by run ${undoneBy.join(', ')}`]),
  ];
  return lines.map(singleLine);
}
