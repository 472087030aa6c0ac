import { isPlainName, singleLine } from '../shared/sanitize.ts';
import { headerLine, isCramped, type Layout, layOut, layOutLong, lineWriter, measure } from './lanes.ts';
import { type CellOptions, shortened, type TableCell, tableCells } from './table-cells.ts';
import { barred, blanks, padEnd, visibleWidth, wrap } from './text-width.ts';
import { type Column, chunksOf, gridOf, type RenderOptions, type Row, type View } from './view.ts';

type TableOptions = RenderOptions & CellOptions;

/** Up to so many rows cli-table3 draws the table; its time is quadratic, so a longer one is streamed at fixed widths. */
const drawnRows = 200;

/**
 * Columns for a person, without borders, fitted to the width. Numbers are never cut; text is, with `…`. One row that
 * does not fit, and rows whose text would be cut to a few letters, are shown with a line for each value. An empty list
 * prints nothing.
 */
export async function* table(whole: View, given: RenderOptions): AsyncIterable<string | Uint8Array> {
  const view = withCleanTitles({ ...whole, ...(await gridOf(whole, given)) }, given);
  if (view.columns.length === 0) return;
  const options = { ...given, bars: true };
  if (view.isForeign && options.width !== undefined) {
    yield* foreignTable({ ...view, isForeign: false, table: {} }, { ...options, width: options.width - 2 });
  } else yield* rowTable(view, options);
}

function withCleanTitles(view: View, { redact }: RenderOptions): View {
  if (redact === undefined) return view;
  return { ...view, columns: view.columns.map((column) => ({ ...column, title: redact(column.title) })) };
}

/** A table of nobody knows what: a bar in front of each line shows that no line of it is ours. */
async function* foreignTable(view: View, options: RenderOptions): AsyncGenerator<string> {
  for await (const piece of table(view, options)) {
    yield barred(`${piece}`.replace(/\n$/, '')).join('\n').concat('\n');
  }
}

async function* rowTable(view: View, options: TableOptions): AsyncGenerator<string> {
  const { header = true, paint } = options;
  let waiting: readonly Row[] = [];
  let line: ((row: Row) => string) | undefined;
  for await (const batch of view.rows) {
    if (line === undefined) {
      waiting = [...waiting, ...batch];
      if (waiting.length <= drawnRows) continue;
      const { columns, isWordy } = view;
      const first = waiting.slice(0, drawnRows).map((row) => tableCells(columns, row, options));
      const layout = layOutLong(columns, first, header, options.width);
      const showsRecords = header && isWordy && isCramped(layout);
      const write = lineWriter(layout);
      line = showsRecords ? recordWriter(columns, options) : (row) => write(tableCells(columns, row, options));
      if (header && !showsRecords) yield headerLine(layout, paint);
    }
    yield* chunksOf([waiting.length === 0 ? batch : waiting], line);
    waiting = [];
  }
  if (waiting.length > 0) yield await wholeTable(view, waiting, options);
}

/** If nothing is cut a table may be of any width: cli-table3 takes quadratic time for a long cell. */
const widestDrawn = 2000;

/** Draws what fits by cli-table3; lays out the rest in lanes, or as records. */
async function wholeTable(view: View, rows: readonly Row[], options: TableOptions): Promise<string> {
  const { shape, isWordy = false, isFacts = false } = view;
  const { paint, width, header = true } = options;
  const columns = view.columns.filter(
    ({ yields, field }) => yields === undefined || rows.some((row) => (row[field] ?? '') !== ''),
  );
  const cells = rows.map((row) => tableCells(columns, row, options));
  const layout = layOut(measure(columns, cells, header, width), width);
  const isNarrow = layout.lanes.reduce((sum, { width: own = 0 }) => sum + own, 0) <= widestDrawn;
  if (layout.fits && isNarrow) return await drawn(columns, cells, layout, header ? options : undefined);
  if (!layout.fits) {
    const [first] = rows;
    if (header && shape === 'one' && first) return recordLines(columns, uncutCells(columns, first, options), options);
    if (isFacts)
      return factLines(
        rows.map((row) => uncutCells(columns, row, options)),
        options,
      );
    const under = (width ?? 0) < roomForLines ? undefined : columns.find((column) => column.under);
    const upper = under && withTextUnder(columns, under, rows, options);
    if (upper !== undefined) return upper;
    if (header && isWordy && isCramped(layout)) return rows.map(recordWriter(columns, options)).join('');
  }
  return (header ? headerLine(layout, paint) : '') + cells.map(lineWriter(layout)).join('');
}

/** Returns the cells of a row for whoever wraps them, and puts bars in front of their lines. */
function uncutCells(columns: readonly Column[], row: Row, options: CellOptions): TableCell[] {
  return tableCells(columns, row, { ...options, width: undefined, bars: false });
}

/** On a terminal that is narrower than this, a line for each value is easier to read than text under a row. */
const roomForLines = 60;

/** Returns a table with the text of one column in lines under its row; undefined if the other columns do not fit either. */
function withTextUnder(
  columns: readonly Column[],
  under: Column,
  rows: readonly Row[],
  options: TableOptions,
): string | undefined {
  const { paint, width = Number.POSITIVE_INFINITY, header = true } = options;
  const others = columns.filter((column) => column !== under);
  const cells = rows.map((row) => tableCells(others, row, options));
  const layout = layOut(measure(others, cells, header, width), width);
  if (isCramped(layout)) return undefined;
  const write = lineWriter(layout);
  const lines = rows.map((row, index) => {
    const [cell] = uncutCells([under], row, options);
    const text = cell === undefined || cell.text === '' ? [] : barred(cell.text, width - 2);
    return write(cells[index] ?? []) + text.map((line) => `  ${line}\n`).join('');
  });
  return (header ? headerLine(layout, paint) : '') + lines.join('');
}

/** Draws a whole table with cli-table3. @param header undefined: no header */
async function drawn(
  columns: readonly Column[],
  rows: readonly (readonly TableCell[])[],
  { lanes }: Layout,
  header: Pick<RenderOptions, 'paint'> | undefined,
): Promise<string> {
  const { default: Table } = await import('cli-table3');
  const hasWidth = (_: unknown, index: number) => lanes[index]?.width !== 0;
  const grid = new Table({
    chars: noBorders,
    // Half of the gap between two columns is padding, the other half the character between them.
    style: { 'padding-left': 0, 'padding-right': 1, head: [], border: [], compact: true },
    colAligns: columns.filter(hasWidth).map(({ align = 'left' }) => align),
  });
  if (header !== undefined) grid.push(lanes.filter(hasWidth).map(({ title }) => header.paint.bold(title)));
  for (const cells of rows) grid.push(cells.filter(hasWidth).map(({ text }) => text));
  return `${grid.toString().replace(/ +$/gm, '')}\n`;
}

const noBorders = {
  ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '' },
  ...{ bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '' },
  ...{ left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: ' ' },
};

const recordGap = 2;

/**
 * One row with a line for each value, its title before it. Text is wrapped under itself; numbers and painted words are not.
 * A remark follows the value before it.
 */
function recordLines(columns: readonly Column[], cells: readonly TableCell[], options: CellOptions): string {
  const { width = 80, paint } = options;
  const titles = columns.map(({ title }) => shortened(singleLine(title), Math.max(10, width >> 1)));
  const indent = Math.max(0, ...titles.map(visibleWidth)) + recordGap;
  const room = Math.max(10, width - indent);
  const remark = (index: number) => (columns[index]?.remark ? `  ${cells[index]?.text ?? ''}` : '');
  return titles
    .flatMap((title, index) => {
      if (columns[index]?.remark) return [];
      const { text, kind } = cells[index] ?? { text: '', kind: 'text' };
      const isFixed = kind !== 'text' || text.includes('\x1b');
      const lines = isFixed ? [text + remark(index + 1)] : fieldLines(text, room, columns[index]?.foreign);
      return `${padEnd(paint.bold(title), indent)}${lines.join(`\n${blanks(indent)}`)}`.trimEnd().concat('\n');
    })
    .join('');
}

function fieldLines(text: string, room: number, foreign: Column['foreign']): string[] {
  const lines = wrap(text, room);
  if (foreign === undefined || (foreign === 'name' && lines.length === 1 && isPlainName(text))) return lines;
  return barred(text, room);
}

/** Makes records of the rows of a list: of each only the fields that it has, with a blank line between two. */
function recordWriter(columns: readonly Column[], options: CellOptions): (row: Row) => string {
  let before = '';
  return (row) => {
    const cells = uncutCells(columns, row, options);
    const isFilled = (_: unknown, index: number): boolean => (cells[index]?.text ?? '') !== '';
    const record = before + recordLines(columns.filter(isFilled), cells.filter(isFilled), options);
    before = '\n';
    return record;
  };
}

/** `name  value (remark)`, wrapped under the value. */
function factLines(rows: readonly (readonly TableCell[])[], options: CellOptions): string {
  const titles = rows.map(([name]) => ({ field: 'name', title: name?.text ?? '' }));
  const values = rows.map(([, value, remark]): TableCell => {
    const parts = [value?.text ?? '', remark === undefined || remark.text === '' ? '' : `(${remark.text})`];
    return { text: parts.filter((part) => part !== '').join(' '), kind: 'text' };
  });
  return recordLines(titles, values, options);
}
