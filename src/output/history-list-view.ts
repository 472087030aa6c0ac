import { grouped } from '../inventory/grouped.ts';
import type { RecordedRow, RunRecord } from '../inventory/run-records.ts';
import { whereName } from '../shared/where.ts';
import { batchesOf } from './batches.ts';
import { runCounts, runIdentity, runJson } from './run-json.ts';
import { localMinute } from './time.ts';
import type { Column, Row, View } from './view.ts';

/**
 * Runs for `history list`, in the order given; read once, and never held whole. JSON has all of a run, null where a field is
 * absent; CSV and TSV have the same, flat.
 *
 * @param onlyRow gives the row of a run that has no other, for a table
 * @param isShared several people and machines have written them: a table says who
 */
export function historyListView(
  runs: () => AsyncIterable<RunRecord>,
  onlyRow: (run: string) => Promise<RecordedRow | undefined>,
  isShared = false,
): View {
  return {
    shape: 'list',
    isWordy: true,
    columns: listColumns,
    rows: batchesOf(runs, toListRow),
    document: { head: undefined, rows: batchesOf(runs, runJson) },
    table: { columns: isShared ? sharedTableColumns : listTableColumns, rows: listTableRows(runs, onlyRow) },
  };
}

function toListRow(facts: RunRecord): Row {
  const { changes, units, state } = facts;
  const [undoneBy, pets] = [facts.undoneBy.join(' ') || null, facts.pets.join(' ') || null];
  return { ...runIdentity(facts), undoneBy, changes, units, pets, ...runCounts(facts), state };
}

const listColumns: readonly Column[] = [
  ...['run', 'at', 'env', 'store', 'baseUrl', 'command', 'user', 'host', 'file', 'reason', 'undoes', 'undoneBy'],
  ...['changes', 'units', 'pets'],
  ...[
    'applied',
    'unchanged',
    'failed',
    'conflict',
    'notAttempted',
    'unknown',
    'differs',
    'skipped',
    'notEdited',
    'pending',
    'state',
  ],
].map((field) => ({ field, title: field }));

/** Of a run id: every command takes so many of its last characters. */
const shownOfRun = 4;

/** Narrow enough for 80 characters. */
const listTableColumns: readonly Column[] = [
  { field: 'run', title: 'Run', whole: true, cell: (value, _row, paint) => paint.cyan(`${value}`) },
  { field: 'at', title: 'At' },
  { field: 'env', title: 'Env', whole: true },
  { field: 'change', title: 'Change' },
  {
    field: 'result',
    title: 'Result',
    cell: (value, row, paint) => (row.whole === true ? `${value}` : paint.yellow(`${value}`)),
  },
];

const sharedTableColumns: readonly Column[] = listTableColumns.toSpliced(2, 0, { field: 'by', title: 'By' });

async function* listTableRows(
  runs: () => AsyncIterable<RunRecord>,
  onlyRow: (run: string) => Promise<RecordedRow | undefined>,
): AsyncGenerator<readonly Row[]> {
  for await (const facts of runs()) {
    const { run, at, env, store } = facts;
    const row = facts.changes === 1 ? await onlyRow(run) : undefined;
    const where = whereName({ store, env });
    const shown = {
      run: run.slice(-shownOfRun),
      at: localMinute(at),
      by: byText(facts),
      env: where,
      change: changeText(facts, row),
    };
    yield [{ ...shown, ...resultOf(facts) }];
  }
}

/** `ann@till-2` */
function byText({ user, host }: RunRecord): string {
  return user === undefined ? host : `${user}@${host}`;
}

/** Which change it was: `set pet 22: 2 → 3`; `apply pets 4, 5, 8 and 17 more: 120 units`; each with its reason. */
function changeText(facts: RunRecord, row: RecordedRow | undefined): string {
  const verb = facts.command.replace(/^inventory /, '');
  const why = facts.reason === undefined ? '' : ` (${facts.reason})`;
  if (row !== undefined) {
    const before = row.before === undefined ? '?' : grouped(row.before);
    return `${verb} pet ${row.petId}: ${before} → ${grouped(row.after)}${why}`;
  }
  return `${verb} ${petsText(facts)}: ${unitsText(facts)}${why}`;
}

/** A run of four names all of them rather than `1 more`. */
export function petsText({ pets, changes }: Pick<RunRecord, 'pets' | 'changes'>): string {
  const shown = pets.slice(0, changes <= 4 ? 4 : 3);
  const rest = changes - shown.length;
  return `pet${changes === 1 ? '' : 's'} ${shown.join(', ')}${rest > 0 ? ` and ${grouped(rest)} more` : ''}`;
}

export function unitsText({ units }: Pick<RunRecord, 'units'>): string {
  return `${grouped(units)} ${units === 1n ? 'unit' : 'units'}`;
}

/** What became of a run in words, and whether it went as it should. */
function resultOf({ counts, changes, undone, state }: RunRecord): { readonly result: string; readonly whole: boolean } {
  const { applied, unknown, pending, failed, conflict, differs } = counts;
  if (state !== 'running' && changes > 0 && pending === changes) return { result: 'nothing sent', whole: false };
  const some = (count: number, words: string) =>
    count === 0 ? [] : [changes === 1 ? words : `${grouped(count)} ${words}`];
  const faults = [
    ...(state === 'done' ? [] : [state]),
    ...(undone > 0 && undone >= applied + differs + unknown ? ['undone'] : some(undone, 'undone')),
    ...some(unknown, 'unknown'),
    ...some(differs, differs === 1 ? 'differs' : 'differ'),
    ...some(pending, 'pending'),
    ...some(failed, 'failed'),
    ...some(conflict, conflict === 1 ? 'conflict' : 'conflicts'),
  ];
  const result = [...faults, ...some(applied, 'applied')].join(', ') || 'unchanged';
  return { result, whole: faults.length === 0 };
}
