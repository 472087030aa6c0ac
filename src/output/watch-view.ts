import type { PetNames } from '../inventory/bar-codes.ts';
import { fieldOf, type TextField, textFields } from '../inventory/item-fields.ts';
import type { LowLevels } from '../inventory/items.ts';
import type { Difference } from '../inventory/stock-list.ts';
import {
  countColumn,
  differenceCell,
  differenceColumn,
  differenceOf,
  nameColumn,
  namesColumn,
  numberColumn,
} from './columns.ts';
import { changeText } from './difference-view.ts';
import { shortWords, stockRemark } from './inventory-view.ts';
import { longForm } from './table.ts';
import type { Paint } from './terminal.ts';
import { isoTime, localTime } from './time.ts';
import { type Column, plainColumns, type RenderOptions, type Row, type Scalar, type View } from './view.ts';

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
  const befores = textFields.map((name): Column => ({ field: beforeName(name), title: '', isLeftOut: true }));
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
  { ...countColumn('before', 'Before'), mayBeAbsent: true, yields: 3 },
  { ...countColumn('after', 'After'), mayBeAbsent: true },
  { ...differenceColumn('Change'), cell: changeCell },
  { field: 'remark', title: '', remark: true, yields: 2 },
  ...textFields.map((field): Column => ({ field, title: fieldOf(field).title, foreign: 'name', yields: 4 })),
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
    ...{ remark: shortWords.belowZero, status: 'available', name: 'Lady, the T-Rex' },
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
