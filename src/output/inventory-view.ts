import type { PetNames } from '../inventory/bar-codes.ts';
import { fieldNames, fieldOf, type InventoryItem, type ShownField, shownFields } from '../inventory/item-fields.ts';
import { grouped, type ItemBatches, isLow, type LowLevels } from '../inventory/items.ts';
import { isPetStatus, type PetStatus } from '../inventory/statuses.ts';
import type { Summary, Total } from '../inventory/summary.ts';
import { countColumn, numberText, shareColumns } from './columns.ts';
import type { Paint } from './terminal.ts';
import { localMinute } from './time.ts';
import type { Column, Page, Row, View } from './view.ts';

export interface InventoryViewOptions {
  readonly low: LowLevels;
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
export function inventoryListView(batches: ItemBatches, { low, names, page }: InventoryViewOptions): View {
  const fields = names === undefined ? fieldNames : shownFields;
  const columns = fields.map((name) => itemColumn(name, { low, names }));
  return { shape: 'list', columns, rows: batches, ...(page && { page }) };
}

/** Returns the columns that a table has for a quantity: the number, and a remark if it needs attention. */
function quantityColumns(quantity: Column, low: LowLevels, width = Number.POSITIVE_INFINITY): readonly Column[] {
  const isNarrow = width < roomForLongWords;
  const words = isNarrow ? shortWords : longWords;
  const cell: Column['cell'] = (_value, row, paint) => stockRemark(row, low, paint, words);
  return [isNarrow ? { ...quantity, title: 'Qty' } : quantity, { field: 'remark', title: '', remark: true, cell }];
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
  const { columns } = inventoryListView([], { low, names });
  const isWritten = before !== undefined || run !== undefined;
  const ofItem = columns.map((column): Column => {
    const { inTable } = column;
    if (before === undefined || inTable === undefined) return column;
    const after = (one: Column): Column => (one.field === 'quantity' ? { ...one, title: 'After' } : one);
    return { ...column, inTable: (options) => [beforeColumn, ...inTable(options).map(after)] };
  });
  return {
    shape: 'one',
    columns: [
      ...ofItem,
      ...(isWritten ? [{ ...beforeColumn, inTable: () => [] }] : []),
      // A message tells how to undo the run.
      ...(run === undefined ? [] : [{ field: 'run', title: 'Run', inTable: () => [] }]),
    ],
    rows: [[{ ...item, before, run }]],
  };
}

interface WrittenItemOptions extends Pick<InventoryViewOptions, 'low' | 'names'> {
  readonly before?: number | undefined;
  readonly run?: string | undefined;
}

const beforeColumn: Column = { ...countColumn('before', 'Before'), omitsAbsent: true };

/** Returns the column of a field, with the colours of a table. */
function itemColumn(name: ShownField, { low, names }: Pick<InventoryViewOptions, 'low' | 'names'>): Column {
  const { kind, title, isOfShop, mayBeAbsent } = fieldOf(name);
  const column: Column = {
    ...{ field: name, title, ...(mayBeAbsent && { showsDash: true as const }) },
    ...(kind.isNumber ? { align: 'right' } : { foreign: 'name' }),
  };
  if (isOfShop) return { ...column, dropRank: 1, value: ({ petId }) => names?.get(petId as bigint) };
  if (name === 'quantity') {
    const cell: Column['cell'] = (value, row, paint) => {
      const color = stockMark(row, low)?.color;
      return color === undefined ? numberText(value) : paint[color](numberText(value));
    };
    const shown: Column = { ...column, cell };
    return { ...shown, inTable: ({ width }) => quantityColumns(shown, low, width) };
  }
  if (kind.isNumber) return column;
  // A narrow terminal leaves out first what items may lack, and the names last.
  const text: Column = mayBeAbsent
    ? { ...column, dropRank: 3 }
    : names === undefined
      ? column
      : { ...column, dropRank: 2 };
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
