import type { PetNames } from '../inventory/bar-codes.ts';
import { fieldNames, fieldOf, type InventoryItem, type ShownField, shownFields } from '../inventory/item-fields.ts';
import { grouped, type ItemBatches, isLow, type LowLevels } from '../inventory/items.ts';
import { isPetStatus, type PetStatus } from '../inventory/statuses.ts';
import type { Summary, Total } from '../inventory/summary.ts';
import { countColumn, numberText, shareColumns } from './columns.ts';
import type { Paint } from './terminal.ts';
import { localMinute } from './time.ts';
import { type Column, gridOf, type Page, type Row, type View } from './view.ts';

export interface InventoryViewOptions {
  readonly low: LowLevels;
  /** The columns in their order. Default: all of them. */
  readonly fields?: readonly ShownField[] | undefined;
  readonly names?: PetNames | undefined;
  readonly page?: Page;
}

/**
 * Returns the page of a stock list to print.
 * @param now milliseconds since the Unix epoch
 */
export function stockPage(where: string, low: LowLevels, now: number): Page {
  return {
    title: `Stock of ${where}`,
    // Computed only for a page, because bun takes 5 ms for the first local time of a process.
    get facts() {
      const level = `${grouped(low.standard)} or less`;
      const rule = !low.own?.size ? `with ${level}` : `at or below their own level, or with ${level} if they have none`;
      return [`Printed ${localMinute(now)}. Low stock: available pets ${rule}.`];
    },
    mark: (row) => {
      const mark = stockMark(row, low);
      return mark && (mark.color === 'red' ? 'bad' : 'low');
    },
  };
}

/** Returns the view of items; with the names of the shop, each has its name. */
export function inventoryListView(
  batches: ItemBatches,
  { low, names, fields = names === undefined ? fieldNames : shownFields, page }: InventoryViewOptions,
): View {
  const columns = fields.map((name) => itemColumn(name, { low, names }));
  return {
    shape: 'list',
    columns,
    rows: batches,
    ...(page && { page }),
    table: ({ width = Number.POSITIVE_INFINITY }) => {
      const isNarrow = width < roomForLongWords;
      const words = isNarrow ? shortWords : longWords;
      const cell: Column['cell'] = (_value, row, paint) => stockRemark(row, low, paint, words);
      const remark: Column = { field: 'remark', title: '', remark: true, cell };
      const withRemark = (column: Column) =>
        column.field === 'quantity' ? [isNarrow ? { ...column, title: 'Qty' } : column, remark] : [column];
      return { columns: columns.flatMap(withRemark) };
    },
  };
}

type StockWords = Readonly<Record<'belowZero' | 'none', string>>;

const longWords: StockWords = { belowZero: 'below zero', none: 'out of stock' };
export const shortWords: StockWords = { belowZero: 'below 0', none: 'out' };
/** Columns of a terminal needed for a pet id of 20 digits, a quantity with its words, and a status. */
const roomForLongWords = 50;

/**
 * Returns the view of one item. `before` (the stock before the write) and `run` (the run that wrote the item) come
 * last; in a table `before` precedes the stock.
 */
export function inventoryItemView(item: InventoryItem, { low, names, before, run }: WrittenItemOptions): View {
  const list = inventoryListView([], { low, names });
  const isWritten = before !== undefined || run !== undefined;
  return {
    shape: 'one',
    columns: [
      ...list.columns,
      ...(isWritten ? [beforeColumn] : []),
      ...(run === undefined ? [] : [{ field: 'run', title: 'Run' }]),
    ],
    rows: [[{ ...item, before, run }]],
    // The table leaves out the run, because a message tells how to undo it.
    table: async (options) => {
      const { columns = [] } = (await gridOf(list, options)) ?? {};
      if (before === undefined) return { columns };
      const withBefore = (column: Column) =>
        column.field === 'quantity' ? [beforeColumn, { ...column, title: 'After' }] : [column];
      return { columns: columns.flatMap(withBefore) };
    },
  };
}

interface WrittenItemOptions extends Pick<InventoryViewOptions, 'low' | 'names'> {
  readonly before?: number | undefined;
  readonly run?: string | undefined;
}

const beforeColumn: Column = { ...countColumn('before', 'Before'), isLeftOut: true };

/** Returns the column of a field, with the colours of a table. */
function itemColumn(name: ShownField, { low, names }: Pick<InventoryViewOptions, 'low' | 'names'>): Column {
  const { kind, title, isOfShop, mayBeAbsent } = fieldOf(name);
  const column: Column = {
    ...{ field: name, title, ...(mayBeAbsent && { mayBeAbsent }) },
    ...(kind.isNumber ? { align: 'right' } : { foreign: 'name' }),
  };
  if (isOfShop) return { ...column, yields: 1, value: ({ petId }) => names?.get(petId as bigint) };
  if (name === 'quantity') {
    const cell: Column['cell'] = (value, row, paint) => {
      const color = stockMark(row, low)?.color;
      return color === undefined ? numberText(value) : paint[color](numberText(value));
    };
    return { ...column, cell };
  }
  if (kind.isNumber) return column;
  // A narrow terminal leaves out first what items may lack, and the names last.
  const text: Column = mayBeAbsent ? { ...column, yields: 3 } : names === undefined ? column : { ...column, yields: 2 };
  return name === 'status' ? { ...text, cell: (value, _row, paint) => statusCell(`${value ?? ''}`, paint) } : text;
}

type MarkedItem = Readonly<Partial<Record<'petId' | 'quantity' | 'status', unknown>>>;

/** Returns the painted words for a stock that needs attention; an empty string for any other. */
export function stockRemark(item: MarkedItem, low: LowLevels, paint: Paint, words: StockWords = longWords): string {
  const mark = stockMark(item, low);
  return mark === undefined ? '' : paint[mark.color](mark.word === 'low' ? 'low' : words[mark.word]);
}

/**
 * Returns how to mark an item that needs attention: a stock below zero, or a low stock of an available pet. Undefined
 * for any other item.
 */
function stockMark({ petId, quantity, status }: MarkedItem, low: LowLevels) {
  if (typeof quantity !== 'number') return undefined;
  if (quantity < 0) return { word: 'belowZero', color: 'red' } as const;
  if (!isLow({ petId, quantity, status }, low)) return undefined;
  return quantity === 0 ? ({ word: 'none', color: 'red' } as const) : ({ word: 'low', color: 'yellow' } as const);
}

const statusColors: Readonly<Record<PetStatus, 'green' | 'yellow' | 'dim'>> = {
  available: 'green',
  pending: 'yellow',
  sold: 'dim',
};

/** Returns a status in its colour; an unknown status stays unchanged. */
function statusCell(status: string, paint: Paint): string {
  return isPetStatus(status) ? paint[statusColors[status]](status) : status;
}

/**
 * Returns the view of pets and units by status, with the totals in the last row; a table shows the share of the pets.
 * JSON is `{"pets":n,"units":n,"byStatus":{"available":{"pets":n,"units":n}, …}}`.
 */
export function summaryView({ pets, units, byStatus }: Summary): View {
  const total: Row = { status: 'total', pets, units, isTotal: true };
  const rows: Row[] = [...byStatus].map(([status, tally]) => ({ status, pets: tally.pets, units: tally.units }));
  const [status, petsColumn, unitsColumn] = summaryColumns;
  const shares = shareColumns('Share', (row) => statusColors[`${row.status}` as PetStatus] ?? 'cyan');
  const withShare = (row: Row): Row => ({ ...row, share: pets === 0 ? null : Number(row.pets) / pets });
  return {
    shape: 'list',
    columns: summaryColumns,
    rows: [[...rows, total]],
    json: { pets, units, byStatus },
    table: { columns: [status, petsColumn, ...shares, unitsColumn], rows: [[...rows.map(withShare), total]] },
  };
}

function totalColumn(field: keyof Total, title: string): Column {
  return {
    field,
    title,
    align: 'right',
    cell: (value, row, paint) => (row.isTotal ? paint.bold(numberText(value)) : numberText(value)),
  };
}

const summaryColumns = [
  {
    field: 'status',
    title: 'Status',
    foreign: 'name',
    cell: (value, row, paint) => (row.isTotal ? paint.bold('Total') : statusCell(`${value}`, paint)),
  } satisfies Column as Column,
  totalColumn('pets', 'Pets'),
  totalColumn('units', 'Units'),
] as const;
