import type { PetNames } from '../inventory/bar-codes.ts';
import type { Difference } from '../inventory/stock-list.ts';
import { singleLine } from '../shared/sanitize.ts';
import { type Batches, mapBatches } from './batches.ts';
import { countColumn, differenceColumn, differenceOf, nameColumn, numberColumn as number } from './columns.ts';
import { type Column, plainColumns, type Row, type View } from './view.ts';

export interface DifferencesOptions {
  /** The names of the sides, for a table. */
  readonly left: string;
  readonly right: string;
  readonly names: PetNames | undefined;
}

/**
 * Returns the view of the differences between two lists. JSON is
 * `[{"petId","change","left":{"quantity","status"},"right":{…}}]`, with null for a side without the pet and for an
 * unknown status, and with `name` if there is one. CSV and TSV have the same values in flat columns.
 * @param source the differences; a stream will do, because a renderer reads them only once
 */
export function differencesView(source: Batches<Difference>, { left, right, names }: DifferencesOptions): View {
  const more: readonly Column[] = names === undefined ? [] : [nameColumn];
  const named = <T extends object>(convert: (difference: Difference) => T) => {
    return mapBatches(source, (difference) => {
      const name = names?.get(difference.petId);
      return name === undefined ? convert(difference) : { ...convert(difference), name };
    });
  };
  return {
    shape: 'list',
    columns: [...plainColumns(fields), ...more],
    rows: named(toRow),
    document: {
      head: undefined,
      rows: named(({ petId, change, left, right }) => ({
        petId,
        change,
        left: sideJson(left),
        right: sideJson(right),
      })),
    },
    table: { columns: [...tableColumns(left, right), ...more], rows: named(toTableRow) },
  };
}

function sideJson(side: Difference['left']): object | null {
  return side === undefined ? null : { quantity: side.quantity, status: side.status || null };
}

function toRow({ petId, change, left, right }: Difference): Row {
  return {
    petId,
    change,
    leftQuantity: left?.quantity ?? null,
    leftStatus: left?.status || null,
    rightQuantity: right?.quantity ?? null,
    rightStatus: right?.status || null,
  };
}

const fields = ['petId', 'change', 'leftQuantity', 'leftStatus', 'rightQuantity', 'rightStatus'];

function toTableRow(difference: Difference): Row {
  const { petId, change, left, right } = difference;
  return {
    petId,
    change,
    left: left?.quantity ?? null,
    right: right?.quantity ?? null,
    difference: differenceOf(left?.quantity, right?.quantity),
    status: statusText(difference),
  };
}

/** Returns `sold`, or `available → sold` if the status differs. */
export function statusText({ left, right }: Difference): string {
  const [before, after] = [left?.status || right?.status || '', right?.status || left?.status || ''];
  return before === after ? after : `${before} → ${after}`;
}

const differenceStyles = { added: 'green', removed: 'red', changed: 'yellow' } as const;

function tableColumns(left: string, right: string): readonly Column[] {
  const cell: Column['cell'] = (value, _row, paint) =>
    paint[differenceStyles[value as Difference['change']]](`${value}`);
  return [
    number('petId', 'Pet ID'),
    { field: 'change', title: 'Change', whole: true, cell },
    countColumn('left', sideTitle(left)),
    countColumn('right', sideTitle(right)),
    differenceColumn('By'),
    { field: 'status', title: 'Status', foreign: 'name' },
  ];
}

/** Returns the title of a side. A long path is truncated at its beginning. */
function sideTitle(name: string): string {
  const title = singleLine(name);
  return title.length <= maxTitle ? title : `…${title.slice(1 - maxTitle)}`;
}

const maxTitle = 16;
