import type { ColumnBatches } from '../inventory/item-columns.ts';
import { chunksOf } from './batches.ts';
import { type InventoryField, itemFields } from './inventory-view.ts';
import type { ItemLineFormat, ItemLines } from './item-lines.ts';
import { redactedRow } from './redacted-row.ts';
import { rowToKeep, tableCells } from './table-cells.ts';
import { drawTable } from './table-drawing.ts';
import { isCramped, type Layout, layOut, layOutLong, measure } from './table-layout.ts';
import { blanksBehindId, cellWriters, headerLine, lineWriter } from './table-lines.ts';
import { factLines, recordLines, recordWriter } from './table-records.ts';
import type { RenderOptions, Row, View } from './view.ts';

/** Up to here cli-table3 draws the table; its time is quadratic, so that a longer one is streamed at fixed widths. */
const drawnRows = 200;

/**
 * Columns for a person, without borders, fitted to the width. Numbers are never cut; text is, with `…`. One row that
 * does not fit, and rows whose text would be cut to a few letters, are shown with a line for each value. An empty list prints nothing.
 */
export async function* table(whole: View, options: RenderOptions): AsyncIterable<string | Uint8Array> {
  const shown = typeof whole.table === 'function' ? await whole.table(options) : whole.table;
  const view = redacted({ ...whole, ...shown }, options);
  if (view.columns.length === 0) return;
  if (view.items !== undefined) {
    yield* itemTable(view, view.items, options);
    return;
  }
  const withoutKeys = rowRedactor(options);
  let waiting: readonly Row[] = [];
  let line: ((row: Row) => string) | undefined;
  for await (const batch of view.rows) {
    let rows: readonly Row[] = batch.map(withoutKeys);
    if (line === undefined) {
      waiting = [...waiting, ...rowsToKeep(view, rows, options)];
      if (waiting.length <= drawnRows) continue;
      const { layout, showsRecords } = longLayout(view, waiting.slice(0, drawnRows), options);
      line = showsRecords ? recordWriter(view.columns, options) : rowWriter(view, layout, options);
      if (!showsRecords) yield* longHeader(layout, options);
      rows = waiting;
      waiting = [];
    }
    yield* chunksOf([rows], line);
  }
  if (waiting.length > 0) yield await wholeTable(view, waiting, options);
}

type RowChange = (row: Row) => Row;

/** What a view shows beside its rows. */
function redacted<Shown extends View>(view: Shown, { redact }: RenderOptions): Shown {
  if (redact === undefined) return view;
  return { ...view, columns: view.columns.map((column) => ({ ...column, title: redact(column.title) })) };
}

function rowRedactor({ redact }: RenderOptions): RowChange {
  return redact === undefined ? (row) => row : (row) => redactedRow(row, redact);
}

/** The same for items in columns: those that no longer have to be measured go straight to bytes. */
async function* itemTable(view: View, items: ColumnBatches, options: RenderOptions) {
  const waiting: Row[] = [];
  let lines: ItemLines | undefined;
  for await (const batch of items) {
    if (lines === undefined) {
      const missing = drawnRows + 1 - waiting.length;
      waiting.push(...rowsToKeep(view, batch.items(missing).map(rowRedactor(options)), options));
      if (waiting.length <= drawnRows) continue;
      const { layout } = longLayout(view, waiting.slice(0, drawnRows), options);
      yield* longHeader(layout, options);
      yield waiting.map(rowWriter(view, layout, options)).join('');
      const { ItemLines } = await import('./item-lines.ts');
      lines = new ItemLines(tableItemLine(view, layout, options));
      batch.keep((index) => index >= missing);
    }
    yield* lines.pieces(batch);
  }
  if (lines !== undefined) yield* lines.rest();
  else if (waiting.length > 0) yield await wholeTable(view, waiting, options);
}

/** Rows may be shown with a line for each value, and these are not cut. */
function rowsToKeep({ columns, shape, isWordy }: View, rows: readonly Row[], { width }: RenderOptions): readonly Row[] {
  return width === undefined || shape === 'one' || isWordy ? rows : rows.map((row) => rowToKeep(columns, row, width));
}

/** How a long table begins, and whether its rows are better shown with a line for each value. */
function longLayout({ columns, isWordy = false }: View, rows: readonly Row[], options: RenderOptions) {
  const { header = true, width, paint } = options;
  const cells = rows.map((row) => tableCells(columns, row, paint, width));
  const layout = layOutLong(columns, cells, header, width);
  return { layout, showsRecords: header && isWordy && isCramped(layout, measure(columns, cells, header, width)) };
}

function* longHeader(layout: Layout, { header = true, paint }: RenderOptions): Generator<string> {
  if (header) yield headerLine(layout, paint);
}

function rowWriter({ columns }: View, layout: Layout, { paint, width }: RenderOptions): (row: Row) => string {
  const write = lineWriter(layout);
  return (row) => write(tableCells(columns, row, paint, width));
}

/** What fits is drawn by cli-table3; what does not is laid out by us, which cuts text but never a number. */
async function wholeTable(
  { columns, shape, isWordy = false, isFacts = false }: View,
  rows: readonly Row[],
  options: RenderOptions,
): Promise<string> {
  const { paint, width } = options;
  const header = options.header ?? true;
  const cells = rows.map((row) => tableCells(columns, row, paint, width));
  const needs = measure(columns, cells, header, width);
  const layout = layOut(needs, width);
  if (layout.fits && isDrawable(layout)) {
    const titled = columns.map((column, index) => ({ ...column, title: layout.lanes[index]?.title ?? '' }));
    return await drawTable(titled, cells, header ? paint : undefined);
  }
  const [first] = rows;
  if (!layout.fits && header && first !== undefined && shape === 'one') {
    return recordLines(columns, tableCells(columns, first, paint), options);
  }
  if (!layout.fits && isFacts) {
    return factLines(
      rows.map((row) => tableCells(columns, row, paint)),
      options,
    );
  }
  if (header && isWordy && isCramped(layout, needs)) return rows.map(recordWriter(columns, options)).join('');
  return (header ? headerLine(layout, paint) : '') + cells.map(lineWriter(layout)).join('');
}

/** Where nothing is cut a table may be of any width: cli-table3 takes quadratic time for a long cell. */
const widestDrawn = 2000;

function isDrawable({ lanes, gap }: Layout): boolean {
  return lanes.reduce((sum, { width }) => sum + width + gap, 0) <= widestDrawn;
}

/** Items as the lines that `lineWriter` makes of them. */
function tableItemLine(view: View, layout: Layout, options: RenderOptions): ItemLineFormat {
  const { paint, width } = options;
  const withoutKeys = rowRedactor(options);
  const fields = itemFields(view);
  const writers = cellWriters(layout);
  const idAt = fields.indexOf('petId');
  const idLane = layout.lanes[idAt];
  const cellText = (field: InventoryField, row: Row): string => {
    const index = view.columns.findIndex((column) => column.field === field);
    const [cell] = tableCells(view.columns.slice(index, index + 1), withoutKeys(row), paint, width);
    return cell === undefined ? '' : (writers[index]?.(cell) ?? '');
  };
  return {
    cells: fields.map((field, index) => ({
      field,
      before: idLane !== undefined && index === idAt + 1 ? blanksBehindId(idLane, layout) : '',
    })),
    end: '\n',
    idWidth: idLane?.number ?? 0,
    quantity: (quantity, status) => cellText('quantity', { quantity, status }),
    status: (status) => cellText('status', { status }),
    trimmed: true,
  };
}
