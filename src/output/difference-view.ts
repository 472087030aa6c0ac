import type { PetNames } from '../inventory/bar-codes.ts';
import { comparedFields, fieldOf, type TextField, textFields } from '../inventory/item-fields.ts';
import type { LowLevels } from '../inventory/items.ts';
import type { Difference, StockEntry } from '../inventory/stock-list.ts';
import { capitalized } from '../shared/parsed.ts';
import { singleLine } from '../shared/sanitize.ts';
import {
  countColumn,
  differenceCell,
  differenceColumn,
  differenceOf,
  nameColumn,
  namesColumn,
  numberColumn as number,
  numberColumn,
} from './columns.ts';
import { shortWords, stockRemark } from './inventory-view.ts';
import { longForm } from './table.ts';
import type { Paint } from './terminal.ts';
import { isoTime, localTime } from './time.ts';
import {
  type Batches,
  type Column,
  plainColumns,
  type RenderOptions,
  type Row,
  type Scalar,
  type View,
} from './view.ts';

export interface DifferencesOptions {
  /** The names of the sides, for a table. */
  readonly left: string;
  readonly right: string;
  readonly names: PetNames | undefined;
}

/**
 * Returns the view of the differences between two lists. JSON is
 * `[{"petId","change","left":{"quantity","status"},"right":{…}}]`, with null for a side without the pet and for an
 * unknown status. CSV and TSV have the same values in flat columns.
 * @param rows the differences; a stream will do, because a renderer reads them only once
 */
export function differencesView(rows: Batches<Difference>, { left, right, names }: DifferencesOptions): View {
  const named = names === undefined ? [] : [namesColumn(names)];
  return {
    shape: 'list',
    columns: [...plainColumns(['petId', 'change']), sideColumn('left'), sideColumn('right'), ...named],
    rows: rows as Batches<Row & Difference>,
    table: { columns: [...tableColumns(left, right), ...named] },
  };
}

/** Returns the column of a side, which CSV and TSV have as `leftQuantity`, `leftStatus`. */
function sideColumn(field: 'left' | 'right'): Column {
  return {
    field,
    title: field,
    value: (row) => {
      const side = sideOf(row, field);
      return side && Object.fromEntries(comparedFields.map((name) => [name, shown(side[name])]));
    },
    flat: comparedFields.map((name) => ({
      field: field + capitalized(name),
      title: field + capitalized(name),
      value: (row) => shown(sideOf(row, field)?.[name]),
    })),
  };
}

function sideOf(row: Row, field: 'left' | 'right'): StockEntry | undefined {
  return (row as Partial<Difference>)[field];
}

/** An empty text of a side is not known. */
function shown<Value>(value: Value | ''): Value | null {
  return value === '' || value === undefined ? null : value;
}

/** Returns `sold`, or `available → sold` if the text differs. */
export function changeText({ left, right }: Pick<Difference, 'left' | 'right'>, name: TextField): string {
  const [before, after] = [left?.[name] || right?.[name] || '', right?.[name] || left?.[name] || ''];
  return before === after ? after : `${before} → ${after}`;
}

const differenceStyles = { added: 'green', removed: 'red', changed: 'yellow' } as const;

function tableColumns(left: string, right: string): readonly Column[] {
  const cell: Column['cell'] = (value, _row, paint) =>
    paint[differenceStyles[value as Difference['change']]](`${value}`);
  const quantity = (side: 'left' | 'right') => (row: Row) => sideOf(row, side)?.quantity;
  return [
    number('petId', 'Pet ID'),
    { field: 'change', title: 'Change', whole: true, cell },
    { ...countColumn('left', sideTitle(left)), showsDash: true, value: quantity('left') },
    { ...countColumn('right', sideTitle(right)), showsDash: true, value: quantity('right') },
    {
      ...differenceColumn('By'),
      value: (row) => differenceOf(sideOf(row, 'left')?.quantity, sideOf(row, 'right')?.quantity),
    },
    ...textFields.map(
      (field): Column => ({
        field,
        title: fieldOf(field).title,
        foreign: 'name',
        value: (row) => changeText({ left: sideOf(row, 'left'), right: sideOf(row, 'right') }, field),
      }),
    ),
  ];
}

/** Returns the title of a side. A long path is truncated at its beginning. */
function sideTitle(name: string): string {
  const title = singleLine(name);
  return title.length <= maxTitle ? title : `…${title.slice(1 - maxTitle)}`;
}

const maxTitle = 16;

/** The changes found by one check, and the time of the check in milliseconds since the Unix epoch. */
export interface WatchReading {
  readonly at: number;
  readonly changes: readonly Difference[];
  /** Whether these are the pets at the start instead of changes. */
  readonly isPresent: boolean;
  /** The longest id at the start. */
  readonly longestId: bigint;
}

/**
 * Returns the view of changes as they are found, one row each: `{"at","petId","before","after","status","change"}`,
 * with `statusBefore` if the status has changed. A quantity is null if the pet did not exist at that time, and `before`
 * is null in the rows of the first check.
 */
export function seenChangesView({ at, changes, isPresent }: WatchReading, names: PetNames | undefined): View {
  const befores = textFields.map((name): Column => ({ field: beforeName(name), title: '', omitsAbsent: true }));
  return {
    shape: 'list',
    columns: [
      ...plainColumns(['at', 'petId', 'before', 'after', ...textFields, 'change']),
      ...befores,
      ...(names === undefined ? [] : [namesColumn(names)]),
    ],
    rows: [changes.map((change) => toRow(at, change, isPresent))],
  };
}

function toRow(at: number, { petId, change, left, right }: Difference, isPresent: boolean): Row {
  const texts = textFields.flatMap((name) => {
    const now = (right ?? left)?.[name];
    const isChanged = left !== undefined && left[name] !== now;
    return [[name, now] as const, ...(isChanged ? [[beforeName(name), left[name]] as const] : [])];
  });
  return {
    ...{ at: isoTime(at), petId, before: left?.quantity, after: right?.quantity },
    ...Object.fromEntries(texts),
    change: isPresent ? 'now' : change,
  };
}

function beforeName(name: TextField): string {
  return `${name}Before`;
}

const columns: readonly Column[] = [
  { field: 'at', title: 'Time', whole: true, cell: (at, _row, paint) => paint.dim(`${at}`) },
  { ...numberColumn('petId', 'Pet ID'), cell: (petId, _row, paint) => paint.bold(`${petId}`) },
  { ...countColumn('before', 'Before'), showsDash: true, dropRank: 3 },
  { ...countColumn('after', 'After'), showsDash: true },
  { ...differenceColumn('Change'), cell: changeCell },
  { field: 'remark', title: '', remark: true, dropRank: 2 },
  ...textFields.map((field): Column => ({ field, title: fieldOf(field).title, foreign: 'name', dropRank: 4 })),
  nameColumn,
];

/** The lines for a terminal. Their columns line up across all checks. */
export interface SeenLines {
  readonly head: string;
  of(facts: WatchReading): string;
}

/**
 * Returns the titles, and a function that writes changes for a person: `14:02:11 4 39 3 -36 low available Rex`.
 * @param petId the longest id
 */
export function seenChangesLines(
  petId: bigint,
  names: PetNames | undefined,
  { low, ...options }: Omit<RenderOptions, 'header'> & { readonly low: LowLevels },
): SeenLines {
  const shown = names === undefined ? columns.filter((column) => column !== nameColumn) : columns;
  const typical = {
    ...{ at: localTime(0), petId, before: 9999, after: 9999, difference: 9999n },
    ...{ remark: shortWords.belowZero, status: 'available → pending', name: 'Lady T-Rex' },
  };
  const view: View = { shape: 'list', columns: shown, rows: [] };
  const { head, line } = longForm(view, [typical], { ...options, header: true }, true);
  const rowOf = (change: Difference, { at, isPresent }: WatchReading): Row => ({
    ...toRow(at, change, isPresent),
    ...{ at: localTime(at), name: names?.get(change.petId) },
    ...Object.fromEntries(textFields.map((name) => [name, changeText(change, name)])),
    difference: differenceOf(change.left?.quantity, change.right?.quantity),
    remark:
      change.right === undefined
        ? null
        : stockRemark({ ...change.right, petId: change.petId }, low, options.paint, shortWords),
  });
  return { head, of: (facts) => facts.changes.map((change) => line(rowOf(change, facts))).join('') };
}

/** Returns a word if a pet was added or removed, otherwise the change of its stock. */
function changeCell(difference: Scalar, row: Row, paint: Paint): string {
  if (row.change === 'added') return paint.green('added');
  return row.change === 'removed' ? paint.red('removed') : differenceCell(difference, row, paint);
}
