import { grouped } from '../inventory/grouped.ts';
import type { ColumnBatches } from '../inventory/item-columns.ts';
import { type InventoryItem, type ItemBatches, isPetStatus, type PetStatus } from '../inventory/items.ts';
import { fault, type Parsed, parsed, quoted } from '../inventory/parsed.ts';
import type { Summary, Tally } from '../inventory/summary.ts';
import { countColumn, numberText } from './change-rows.ts';
import type { Paint } from './paint.ts';
import { type ShareColumn, withShare } from './share-column.ts';
import type { Column, Row, View } from './view.ts';

/** The fields of an item, in the order in which they are shown. */
export const inventoryFields = ['petId', 'quantity', 'status'] as const;
export type InventoryField = (typeof inventoryFields)[number];

export interface InventoryViewOptions {
  /** At or below it a quantity is marked: the setting `low-stock`. */
  readonly lowStock: number;
  /** The columns and their order; absent: all of them. */
  readonly fields?: readonly InventoryField[] | undefined;
}

/** Reads the value of `--fields`: names from `inventoryFields` with commas between them, each at most once. */
export function parseFields(text: string): Parsed<readonly InventoryField[]> {
  const list = `the fields are ${inventoryFields.join(', ')}`;
  const chosen: InventoryField[] = [];
  for (const name of text.split(',').map((part) => part.trim())) {
    const field = inventoryFields.find((known) => known === name);
    if (field === undefined)
      return fault(name === '' ? `a field is empty: ${list}` : `${quoted(name)} is not a field: ${list}`);
    if (chosen.includes(field)) return fault(`${quoted(name)} is named twice: ${list}`);
    chosen.push(field);
  }
  return parsed(chosen);
}

/** Stock levels as a list. */
export function inventoryListView(batches: ItemBatches, { lowStock, fields }: InventoryViewOptions): View {
  const columnsFor = (words: StockWords): readonly Column[] => {
    const columns = inventoryColumns(lowStock, words);
    return (fields ?? inventoryFields).map((field) => columns[field]);
  };
  return {
    shape: 'list',
    columns: columnsFor(longWords),
    rows: batches,
    table: ({ width }) => {
      const isNarrow = width !== undefined && width < roomForLongWords;
      return { columns: columnsFor(isNarrow ? shortWords : longWords) };
    },
  };
}

/** What is said of a quantity that needs attention. */
interface StockWords {
  readonly belowZero: string;
  readonly none: string;
}

const longWords: StockWords = { belowZero: 'below zero', none: 'out of stock' };
const shortWords: StockWords = { belowZero: 'below 0', none: 'out' };
/** In columns: a pet id of 20 digits, a quantity with its words, and a status beside each other. */
const roomForLongWords = 50;

/** Stock levels as a list of any length. */
export function inventoryColumnsView(items: ColumnBatches, options: InventoryViewOptions): View {
  return { ...inventoryListView(objects(items), options), items };
}

async function* objects(batches: ColumnBatches): AsyncGenerator<readonly InventoryItem[]> {
  for await (const batch of batches) yield batch.items();
}

/** The columns of a view of items by the names of their fields. */
export function itemFields({ columns }: View): InventoryField[] {
  return columns.flatMap(({ field }) => inventoryFields.find((known) => known === field) ?? []);
}

/** One item; with `before`, the stock that an adjustment found goes last. */
export function inventoryItemView(
  item: InventoryItem,
  { lowStock, fields, before }: InventoryViewOptions & { readonly before?: number | undefined },
): View {
  const { table: _table, ...list } = inventoryListView([], { lowStock, fields });
  if (before === undefined) return { ...list, shape: 'one', rows: [[item]] };
  return { shape: 'one', columns: [...list.columns, beforeColumn], rows: [[{ ...item, before }]] };
}

const beforeColumn = countColumn('before', 'Before');

function inventoryColumns(lowStock: number, words: StockWords): Readonly<Record<InventoryField, Column>> {
  return {
    petId: { field: 'petId', title: 'Pet ID', align: 'right' },
    quantity: {
      field: 'quantity',
      title: 'Quantity',
      align: 'right',
      cell: (value, { status }, paint) =>
        typeof value === 'number'
          ? quantityCell(value, { isSold: status === 'sold', lowStock, words }, paint)
          : `${value ?? ''}`,
    },
    status: { field: 'status', title: 'Status', cell: (value, _row, paint) => statusCell(`${value ?? ''}`, paint) },
  };
}

/** The quantity and, after two spaces, a word for what needs attention: that a sold pet is gone does not. */
function quantityCell(
  quantity: number,
  { isSold, lowStock, words }: { readonly isSold: boolean; readonly lowStock: number; readonly words: StockWords },
  paint: Paint,
): string {
  if (quantity < 0) return `${paint.red(grouped(quantity))}  ${paint.red(words.belowZero)}`;
  if (isSold) return grouped(quantity);
  if (quantity === 0) return `${paint.red('0')}  ${paint.red(words.none)}`;
  if (quantity <= lowStock) return `${paint.yellow(grouped(quantity))}  ${paint.yellow('low')}`;
  return grouped(quantity);
}

const statusColors: Readonly<Record<PetStatus, 'green' | 'yellow' | 'dim'>> = {
  available: 'green',
  pending: 'yellow',
  sold: 'dim',
};

/** The word in its colour; an unknown status is shown as it came. */
function statusCell(status: string, paint: Paint): string {
  return isPetStatus(status) ? paint[statusColors[status]](status) : status;
}

/**
 * Pets and units by status, and in all in the last row; a table shows which share of the pets that is. In JSON
 * `{"pets":n,"units":n,"byStatus":{"available":{"pets":n,"units":n}, …}}`.
 */
export function summaryView({ pets, units, byStatus }: Summary): View {
  const total: Row = { status: 'total', pets, units };
  const rows: Row[] = [...byStatus].map(([status, tally]) => ({ status, pets: tally.pets, units: tally.units }));
  const columns = summaryColumns(total);
  const share: ShareColumn = {
    title: 'Share',
    share: (row) => (row === total || pets === 0 ? undefined : Number(row.pets) / pets),
    color: ({ status }) => statusColors[`${status}` as PetStatus] ?? 'cyan',
  };
  return {
    shape: 'list',
    columns,
    rows: [[...rows, total]],
    json: { pets, units, byStatus },
    table: (options) => withShare(columns, [...rows, total], share, options),
  };
}

function summaryColumns(total: Row): readonly Column[] {
  const number = (field: keyof Tally, title: string): Column => ({
    field,
    title,
    align: 'right',
    cell: (value, row, paint) => {
      const text = numberText(value);
      return row === total ? paint.bold(text) : text;
    },
  });
  return [
    {
      field: 'status',
      title: 'Status',
      cell: (value, row, paint) => (row === total ? paint.bold('Total') : statusCell(`${value}`, paint)),
    },
    number('pets', 'Pets'),
    number('units', 'Units'),
  ];
}
