import { isPlainName } from '../shared/sanitize.ts';
import {
  type CellOptions,
  type Cells,
  headerLine,
  isCramped,
  type Layout,
  layOut,
  layOutLong,
  lineWriter,
  type TableCell,
  tableCells,
  titleOf,
} from './layout.ts';
import { barred, blanks, padEnd, visibleWidth, wrap } from './text-width.ts';
import { type Column, chunksOf, inTable, type RenderOptions, type Row, type View, valueIn } from './view.ts';

/**
 * A table of more rows, or with more characters of text, is written row by row, at widths measured from the rows so far:
 * cli-table3 takes 0.2 ms a row even in pages (three minutes for a million), and the rows might not fit into memory.
 */
const measured = { rows: 200, text: 1024 * 1024 };

/**
 * Renders columns for a person, without borders, fitted to the width. Numbers are never truncated; text is, with `…`. A
 * single item that does not fit is shown with a line for each value, and so are the rows of a wordy view whose text
 * would be truncated to a few letters. An empty list prints nothing.
 */
export async function* table(whole: View, options: RenderOptions): AsyncIterable<string> {
  const view = await inTable(whole, options);
  if (view.columns.length === 0) return;
  if (!view.isServiceText || options.width === undefined) return yield* rowTable(view, options);
  // A bar in front of each line shows that it is not petstock's.
  for await (const piece of rowTable(view, { ...options, width: options.width - 2 })) {
    yield barred(piece.replace(/\n$/, '')).join('\n').concat('\n');
  }
}

/** Returns the lines of a table within other output. */
export async function tableLines(view: View, options: RenderOptions): Promise<string[]> {
  let text = '';
  for await (const piece of table(view, options)) text += piece;
  return text.split('\n').slice(0, -1);
}

/**
 * Renders a table with cli-table3 if it fits and is short. Any other table is written row by row, in the same layout or
 * in a form that has room for it.
 */
async function* rowTable(view: View, options: RenderOptions): AsyncGenerator<string> {
  let first: readonly Row[] = [];
  let length = 0;
  let form: Form | undefined;
  for await (const batch of view.rows) {
    if (form !== undefined) {
      yield* chunksOf([batch], form.line);
      continue;
    }
    first = [...first, ...batch];
    length += batch.reduce((sum, row) => sum + textLength(row), 0);
    if (first.length <= measured.rows && length <= measured.text) continue;
    form = longForm(view, first.slice(0, measured.rows), options);
    if (form.head !== '') yield form.head;
    yield* chunksOf([first], form.line);
    first = [];
  }
  if (form === undefined && first.length > 0) yield await wholeTable(view, first, options);
}

function textLength(row: Row): number {
  return Object.values(row).reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
}

/**
 * Maximum width of a table that cli-table3 draws, because it takes quadratic time for a long cell. Only a table without
 * a width limit can be wider.
 */
const widestDrawn = 2000;

async function wholeTable(view: View, rows: readonly Row[], options: RenderOptions): Promise<string> {
  const columns = view.columns.filter((column) => hasUse(column, rows));
  const cells = rows.map((row) => tableCells(columns, row, options));
  const layout = layOut(columns, cells, options);
  const isNarrow = layout.lanes.reduce((sum, { width = 0 }) => sum + width, 0) <= widestDrawn;
  if (layout.fits && isNarrow) return await drawn(layout, cells, options);
  const roomy = layout.fits ? undefined : roomyForm(view, columns, rows, options);
  const { head, line } = roomy ?? formOf(view, columns, layout, options);
  return head + rows.map(line).join('');
}

function hasUse(column: Column, rows: readonly Row[]): boolean {
  const { dropRank, usual = '' } = column;
  return (dropRank === undefined && usual === '') || rows.some((row) => (valueIn(column, row) ?? '') !== usual);
}

/** The text above the rows of a table, and a function that returns the text of a row. */
interface Form {
  readonly head: string;
  line(row: Row): string;
}

/**
 * Returns the form of a table whose later rows are not known yet.
 * @param first the rows by which the columns are measured
 * @param areTypical whether later rows need no more room
 */
export function longForm(view: View, first: readonly Row[], options: RenderOptions, areTypical = false): Form {
  const cells = first.map((row) => tableCells(view.columns, row, options));
  return formOf(view, view.columns, layOutLong(view.columns, cells, options, areTypical), options);
}

/**
 * Returns a form of one line per row, below the titles. For a wordy view with titles, returns records instead if lines
 * would be too long, or truncated to a few letters.
 */
function formOf({ isWordy }: View, columns: readonly Column[], layout: Layout, options: RenderOptions): Form {
  const { header = true, paint } = options;
  if (header && isWordy && isCramped(layout)) return { head: '', line: recordWriter(columns, options) };
  const write = lineWriter(layout);
  return { head: header ? headerLine(layout, paint) : '', line: (row) => write(tableCells(columns, row, options)) };
}

/** On a terminal narrower than this, a line for each value is easier to read than text below a row. */
const roomForLines = 60;

/**
 * Returns a form with more room for text, for a table that does not fit: a record, facts, or one column below its row.
 * Undefined if there is none for this view and width.
 */
function roomyForm(
  view: View,
  columns: readonly Column[],
  rows: readonly Row[],
  options: RenderOptions,
): Form | undefined {
  const { width = 0, header = true } = options;
  if (header && view.shape === 'one') return { head: '', line: recordWriter(columns, options) };
  if (view.isFacts) return { head: factLines(columns, rows, options), line: () => '' };
  const under = columns.find((column) => column.under);
  if (under === undefined || width < roomForLines) return undefined;
  const others = columns.filter((column) => column !== under);
  const cells = rows.map((row) => tableCells(others, row, options));
  const layout = layOut(others, cells, options);
  if (isCramped(layout)) return undefined;
  const { head, line } = formOf(view, others, layout, options);
  return { head, line: (row) => line(row) + linesUnder(under, row, options, width) };
}

function linesUnder(column: Column, row: Row, options: RenderOptions, width: number): string {
  const [{ text } = { text: '' }] = uncutCells([column], row, options);
  const lines = text === '' ? [] : barred(text, width - 2);
  return lines.map((line) => `  ${line}\n`).join('');
}

/** Returns the cells of a row without truncating text or adding bars. The caller wraps the text, and adds bars. */
function uncutCells(columns: readonly Column[], row: Row, options: CellOptions): TableCell[] {
  return tableCells(columns, row, { ...options, width: undefined, bars: false });
}

/**
 * Returns a function that renders each row of a list as a record, with only its present fields. Records have a blank
 * line between them.
 */
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

/** Returns, for each row, `name value (remark)`, wrapped under the value. */
function factLines(columns: readonly Column[], rows: readonly Row[], options: CellOptions): string {
  const facts = rows.map((row) => uncutCells(columns, row, options).map(({ text }) => text));
  const titles = facts.map(([title = '']) => ({ field: 'name', title }));
  const values = facts.map(([, value = '', remark = '']): TableCell => {
    return { text: `${value} ${remark === '' ? '' : `(${remark})`}`.trim(), kind: 'text' };
  });
  return recordLines(titles, values, options);
}

/**
 * Returns one row as lines: one for each value, with its title before it. Text is wrapped under itself; numbers and
 * painted words are not. A remark follows the value before it.
 */
function recordLines(columns: readonly Column[], cells: readonly TableCell[], options: CellOptions): string {
  const { width = 80, paint } = options;
  const titles = columns.map((column) => titleOf(column, { ...options, width: Math.max(10, width >> 1) }));
  const indent = Math.max(0, ...titles.map(visibleWidth)) + 2;
  const room = Math.max(10, width - indent);
  return titles
    .flatMap((title, index) => {
      if (columns[index]?.remark) return [];
      const { text, kind } = cells[index] ?? { text: '', kind: 'text' };
      const remark = columns[index + 1]?.remark ? `  ${cells[index + 1]?.text ?? ''}` : '';
      const isFixed = kind !== 'text' || text.includes('\x1b');
      const lines = isFixed ? [text + remark] : fieldLines(text, room, columns[index]?.foreign);
      return `${padEnd(paint.bold(title), indent)}${lines.join(`\n${blanks(indent)}`)}`.trimEnd().concat('\n');
    })
    .join('');
}

function fieldLines(text: string, room: number, foreign: Column['foreign']): string[] {
  const lines = wrap(text, room);
  if (foreign === undefined || (foreign === 'name' && lines.length === 1 && isPlainName(text))) return lines;
  return barred(text, room);
}

/** Renders a whole table with cli-table3. */
async function drawn({ lanes }: Layout, rows: Cells, { header = true, paint }: RenderOptions): Promise<string> {
  const { default: Table } = await import('cli-table3');
  const hasWidth = (_: unknown, index: number) => lanes[index]?.width !== 0;
  const grid = new Table({
    chars: noBorders,
    // Half of the gap between two columns is padding; the other half is the character between them.
    style: { 'padding-left': 0, 'padding-right': 1, head: [], border: [] },
    colAligns: lanes.filter(hasWidth).map(({ right }) => (right ? 'right' : 'left')),
  });
  if (header) grid.push(lanes.filter(hasWidth).map(({ title }) => paint.bold(title)));
  for (const cells of rows) grid.push(cells.filter(hasWidth).map(({ text }) => text));
  return `${grid.toString().replace(/ +$/gm, '')}\n`;
}

const noBorders = {
  ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '' },
  ...{ bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '' },
  ...{ left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: ' ' },
};
