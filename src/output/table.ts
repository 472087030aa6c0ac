import type { ColumnBatches } from '../inventory/item-columns.ts';
import { pieces } from './chunk-rows.ts';
import { ItemLines } from './item-lines.ts';
import type { Paint } from './paint.ts';
import { recordLines } from './record.ts';
import { type TableCell, tableCells } from './table-cells.ts';
import { tableItemLine } from './table-items.ts';
import { type Layout, layOut, layOutLong, measure } from './table-layout.ts';
import { fittedCells, headerCells, headerLine, lineWriter } from './table-lines.ts';
import type { RenderOptions, Row, View } from './view.ts';

/** Up to here cli-table3 sets the table; its time is quadratic, so that a longer one is streamed at fixed widths. */
const measuredRows = 500;

/**
 * Columns for a person, without borders, fitted to the width. Numbers are never cut; text is, with `…`. One row that
 * does not fit is shown with a line for each value. An empty list prints nothing.
 */
export async function* table(view: View, options: RenderOptions): AsyncIterable<string | Uint8Array> {
  if (view.columns.length === 0) return;
  if (view.items !== undefined) {
    yield* itemTable(view, view.items, options);
    return;
  }
  let waiting: readonly Row[] = [];
  let line: ((row: Row) => string) | undefined;
  for await (const batch of view.rows) {
    let rows = batch;
    if (line === undefined) {
      waiting = waiting.length === 0 ? batch : [...waiting, ...batch];
      if (waiting.length <= measuredRows) continue;
      const layout = longLayout(view, waiting.slice(0, measuredRows), options);
      if (options.header ?? true) yield headerLine(layout, options.paint);
      const write = lineWriter(layout);
      line = (row) => write(tableCells(view.columns, row, options.paint));
      rows = waiting;
      waiting = [];
    }
    yield* pieces([rows], line);
  }
  if (waiting.length > 0) yield await wholeTable(view, waiting, options);
}

/** The same for items in columns: those that no longer have to be measured go straight to bytes. */
async function* itemTable(view: View, items: ColumnBatches, options: RenderOptions) {
  const waiting: Row[] = [];
  let lines: ItemLines | undefined;
  for await (const batch of items) {
    if (lines === undefined) {
      const missing = measuredRows + 1 - waiting.length;
      waiting.push(...batch.items(missing));
      if (waiting.length <= measuredRows) continue;
      const layout = longLayout(view, waiting.slice(0, measuredRows), options);
      if (options.header ?? true) yield headerLine(layout, options.paint);
      const write = lineWriter(layout);
      yield waiting.map((row) => write(tableCells(view.columns, row, options.paint))).join('');
      lines = new ItemLines(tableItemLine(view, layout, options.paint));
      batch.keep((index) => index >= missing);
    }
    yield* lines.pieces(batch);
  }
  if (lines !== undefined) yield* lines.rest();
  else if (waiting.length > 0) yield await wholeTable(view, waiting, options);
}

function longLayout({ columns }: View, rows: readonly Row[], { header, width, paint }: RenderOptions): Layout {
  const cells = rows.map((row) => tableCells(columns, row, paint));
  return layOutLong(columns, cells, header ?? true, width);
}

async function wholeTable({ columns, shape }: View, rows: readonly Row[], options: RenderOptions): Promise<string> {
  const header = options.header ?? true;
  const cells = rows.map((row) => tableCells(columns, row, options.paint));
  const layout = layOut(measure(columns, cells, header), options.width);
  const [first] = cells;
  if (shape === 'one' && header && !layout.fits && first !== undefined) return recordLines(columns, first, options);
  return await gridText(layout, cells, header ? options.paint : undefined);
}

/** A whole table by cli-table3. With a paint it has a header. */
async function gridText(layout: Layout, rows: readonly (readonly TableCell[])[], header?: Paint): Promise<string> {
  const { default: Table } = await import('cli-table3');
  const grid = new Table({
    chars: { ...noBorders, middle: ' '.repeat(layout.gap) },
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
  });
  if (header !== undefined) grid.push(headerCells(layout, header));
  for (const cells of rows) grid.push(fittedCells(layout, cells));
  return `${grid.toString().replace(/ +$/gm, '')}\n`;
}

const noBorders = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
};
