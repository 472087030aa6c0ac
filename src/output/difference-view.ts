import type { PetNames } from '../inventory/bar-codes.ts';
import { comparedFields, fieldOf, type TextField, textFields } from '../inventory/item-fields.ts';
import type { Difference, StockEntry } from '../inventory/stock-list.ts';
import { capitalized } from '../shared/parsed.ts';
import { singleLine } from '../shared/sanitize.ts';
import type { Batches } from './batches.ts';
import { countColumn, differenceColumn, differenceOf, namesColumn, numberColumn as number } from './columns.ts';
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
    { ...countColumn('left', sideTitle(left)), mayBeAbsent: true, value: quantity('left') },
    { ...countColumn('right', sideTitle(right)), mayBeAbsent: true, value: quantity('right') },
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
