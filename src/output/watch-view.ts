import type { PetNames } from '../inventory/bar-codes.ts';
import type { LowLevels } from '../inventory/items.ts';
import type { Difference } from '../inventory/stock-list.ts';
import { countColumn, differenceCell, differenceColumn, differenceOf, nameColumn, numberColumn } from './columns.ts';
import { statusText } from './difference-view.ts';
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
 * with `statusBefore` if the status has changed and `name` if there is one. A quantity is null if the pet did not exist
 * at that time, and `before` is null in the rows of the first check.
 */
export function seenChangesView({ at, changes, isPresent }: WatchReading, names: PetNames | undefined): View {
  const rows = [changes.map((change) => toRow(at, change, isPresent, names?.get(change.petId)))];
  return {
    shape: 'list',
    columns: plainColumns(names === undefined ? fields : [...fields, 'name']),
    rows,
    document: { head: undefined, rows },
  };
}

function toRow(at: number, { petId, change, left, right }: Difference, isPresent: boolean, name?: string): Row {
  const [before, after] = [left?.quantity ?? null, right?.quantity ?? null];
  const status = (right ?? left)?.status ?? '';
  return {
    ...{ at: isoTime(at), petId, before, after, status, change: isPresent ? 'now' : change },
    ...(left !== undefined && left.status !== status && { statusBefore: left.status }),
    ...(name !== undefined && { name }),
  };
}

const fields = ['at', 'petId', 'before', 'after', 'status', 'change', 'statusBefore'];

const columns: readonly Column[] = [
  { field: 'at', title: 'Time', whole: true, cell: (at, _row, paint) => paint.dim(`${at}`) },
  { ...numberColumn('petId', 'Pet ID'), cell: (petId, _row, paint) => paint.bold(`${petId}`) },
  { ...countColumn('before', 'Before'), yields: 3 },
  countColumn('after', 'After'),
  { ...differenceColumn('Change'), cell: changeCell },
  { field: 'remark', title: '', remark: true, yields: 2 },
  { field: 'status', title: 'Status', foreign: 'name', yields: 4 },
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
    ...toRow(at, change, isPresent, names?.get(change.petId)),
    ...{ at: localTime(at), status: statusText(change) },
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
