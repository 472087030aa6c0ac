import { isPlainName, singleLine } from '../shared/sanitize.ts';
import { scalarOf } from './json-format.ts';
import type { Paint } from './terminal.ts';
import { bar, blanks, padEnd, padStart, truncate, visibleWidth } from './text-width.ts';
import { type Column, type RenderOptions, type Row, type Scalar, valueIn } from './view.ts';

/** A value as shown in a table: safe, on one line, painted. */
export interface TableCell {
  readonly text: string;
  /** Numbers and ids are never truncated, however narrow the terminal. An id has up to 20 characters. */
  readonly kind: 'text' | 'number' | 'id';
}

export interface CellOptions extends Pick<RenderOptions, 'width' | 'paint' | 'redact'> {
  /** Whether quoted text has a bar in front; default true. */
  readonly bars?: boolean;
}

/**
 * Returns the cells of a row in the order of the columns.
 * @param options with a `width`, longer text is truncated before anything is measured
 */
export function tableCells(columns: readonly Column[], row: Row, options: CellOptions): TableCell[] {
  const { paint, bars = true } = options;
  return columns.map((column) => {
    const value = cleanValue(column, row, options);
    const isDash = value === null && column.showsDash === true;
    const shown = isDash ? paint.dim('-') : (column.cell?.(value, row, paint) ?? `${value ?? ''}`);
    return {
      text: bars && needsBar(column, value) ? bar + shown : shown,
      kind: typeof value === 'bigint' ? 'id' : typeof value === 'number' ? 'number' : 'text',
    };
  });
}

/** Reports whether a value gets a bar: `words` always, a `name` only if it could be mistaken for petstock's text. */
function needsBar({ foreign }: Column, value: Scalar): boolean {
  if (foreign === undefined || value === null || value === '') return false;
  return foreign === 'words' || !isPlainName(`${value}`);
}

/**
 * Returns the value that a column shows: a text is safe, on one line, and, unless the column is `whole`, little longer
 * than the terminal is wide.
 */
function cleanValue(column: Column, row: Row, { width, redact = same }: CellOptions): Scalar {
  const value = scalarOf(valueIn(column, row));
  if (typeof value !== 'string') return value;
  const line = singleLine(redact(value));
  return width === undefined || column.whole ? line : shortened(line, width);
}

const same = (text: string): string => text;

/**
 * Number of code units kept for each column. Few characters have more, and more marks on one letter can't be displayed.
 */
const maxCharacter = 16;

/** Returns the text truncated to little more than `width` columns, so that it still does not fit if it did not before. */
function shortened(text: string, width: number): string {
  // A known status is never truncated, because the remark about a low stock depends on it.
  const room = Math.max(width + 2, 12);
  const most = room * maxCharacter;
  // A character of two code units is not split.
  const head = text.length > most ? `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…` : text;
  return truncate(head, room);
}

/** Returns the title of a column, safe and little longer than `width`. */
export function titleOf({ title }: Column, { width, redact = same }: Pick<RenderOptions, 'width' | 'redact'>): string {
  const line = singleLine(redact(title));
  return width === undefined ? line : shortened(line, width);
}

/** A column of a table with the width that it needs and the width that it has, in columns of the terminal. */
export interface Lane {
  readonly title: string;
  readonly right: boolean;
  /** The width of the widest value that must not be truncated; 0 if there is no such value. */
  readonly whole: number;
  /** The width of the widest value, including the title. */
  readonly widest: number;
  /** The number of `Column.dropRank`; 0 for a column that is never left out. */
  readonly dropRank: number;
  /** 0 if the column is empty; undefined if there is no room, so that the column is left out. */
  readonly width: number | undefined;
}

export interface Layout {
  readonly lanes: readonly Lane[];
  readonly gap: number;
  readonly fits: boolean;
  /** Whether lines are longer than the terminal, because the columns can't be narrowed any further. */
  readonly overflows: boolean;
  /** Whether text that is wider than its column is truncated, because the width is limited. */
  readonly cuts: boolean;
}

type LayoutOptions = Pick<RenderOptions, 'header' | 'width' | 'redact'>;
export type Cells = readonly (readonly TableCell[])[];

/** Measures the columns at their full width. */
function measure(columns: readonly Column[], rows: Cells, options: LayoutOptions): Lane[] {
  return columns.map((column, index) => {
    const right = column.align === 'right';
    const title = options.header === false ? '' : titleOf(column, options);
    let whole = 0;
    let widest = visibleWidth(title);
    for (const row of rows) {
      const cell = row[index];
      if (cell === undefined) continue;
      const own = visibleWidth(cell.text);
      if (right || column.whole || cell.kind !== 'text') whole = Math.max(whole, own);
      widest = Math.max(widest, own);
    }
    return { title, right, whole, widest, dropRank: column.dropRank ?? 0, width: widest };
  });
}

/**
 * Fits columns into a width, in steps until they fit. If some columns have a `dropRank`, the text of the others is
 * truncated to 30 columns, and then that of the ranked columns to ten. These are then left out one after the other, but
 * the last of them is first truncated to four columns. Finally all text is truncated to four columns, the widest first, and the
 * gaps are narrowed. Numbers are never truncated, so lines may still be longer than the width.
 */
export function layOut(columns: readonly Column[], rows: Cells, options: LayoutOptions): Layout {
  const lanes = measure(columns, rows, options);
  const { width = Number.POSITIVE_INFINITY } = options;
  const fits = total(lanes, 2) <= width;
  let layout: Layout = { lanes, gap: 2, fits, overflows: false, cuts: Number.isFinite(width) };
  if (fits) return layout;
  for (const { caps, gap } of steps(lanes, width)) {
    const narrowed = lanes.map((lane) => capped(lane, caps.get(lane.dropRank) ?? width));
    layout = { ...layout, lanes: narrowed, gap, overflows: total(narrowed, gap) > width };
    if (!layout.overflows) break;
  }
  return layout;
}

function capped(lane: Lane, cap: number): Lane {
  return { ...lane, width: cap === 0 ? undefined : Math.max(lane.whole, Math.min(lane.widest, cap)) };
}

function total(lanes: readonly Lane[], gap: number): number {
  return lanes.reduce((sum, { width = 0 }) => sum + (width === 0 ? 0 : width + gap), -gap);
}

/** Text wider than `wide` is truncated before any column is left out; fewer columns than `useful` are useless. */
const textWidths = { wide: 30, useful: 10, least: 4 };

/** Yields the steps of narrowing: the maximum widths by `Column.dropRank`, and the gap. */
function* steps(lanes: readonly Lane[], width: number) {
  const { wide, useful, least } = textWidths;
  const levels = [...new Set(lanes.map(({ dropRank }) => dropRank))].filter((level) => level > 0).sort((a, b) => b - a);
  const caps = new Map<number, number>();
  const narrow = function* (level: number, end: number) {
    for (let cap = width; cap >= end; cap -= 1) yield { caps: caps.set(level, cap), gap: 2 };
  };
  if (levels.length > 0) yield* narrow(0, wide);
  for (let left = levels; left.length > 0; left = left.slice(1)) {
    for (const level of levels) caps.set(level, left.includes(level) ? width : 0);
    for (const level of left) yield* narrow(level, left.length === 1 ? least : useful);
  }
  for (const level of levels) caps.set(level, 0);
  for (let cap = Math.max(least, Math.min(width, caps.get(0) ?? width)); cap >= least; cap -= 1) {
    for (const gap of [2, 1]) yield { caps: caps.set(0, cap), gap };
  }
}

/** Reports whether lines are too long, or text is truncated so much, that a line per value is easier to read. */
export function isCramped({ lanes, overflows }: Layout): boolean {
  const isUseless = ({ right, dropRank, width = 0, widest }: Lane) =>
    !right && dropRank === 0 && width < Math.min(widest, textWidths.useful);
  return overflows || lanes.some(isUseless);
}

/** Width reserved for rows after the measured ones: an id has at most 20 characters, the others are estimates. */
const reserve = { id: 20, number: 10, text: 12 };

/**
 * Returns the layout for more rows than were measured: columns are wider if there is room, unless the measured rows are
 * typical. The last column gets the rest of the line.
 */
export function layOutLong(
  columns: readonly Column[],
  measured: Cells,
  options: LayoutOptions,
  areTypical: boolean,
): Layout {
  const roomy = columns.map((_, index): TableCell => {
    const { kind } = measured[0]?.[index] ?? { kind: 'text' };
    return { kind, text: '0'.repeat(reserve[kind]) };
  });
  const reserved = layOut(columns, areTypical ? measured : [...measured, roomy], options);
  const layout = reserved.fits ? reserved : layOut(columns, measured, options);
  const last = layout.lanes.findLast((lane) => lane.width !== undefined);
  const rest = Math.max(0, (options.width ?? 0) - total(layout.lanes, layout.gap));
  const lanes = layout.lanes.map((lane) => (lane === last ? { ...lane, width: (lane.width ?? 0) + rest } : lane));
  return { ...layout, lanes };
}

/** Returns the line of titles in bold, in the format of `lineWriter`. */
export function headerLine(layout: Layout, paint: Paint): string {
  return lineWriter(layout)(layout.lanes.map(({ title }) => ({ text: paint.bold(title), kind: 'text' })));
}

/** Returns a function that writes lines at fixed widths, each with its line end. */
export function lineWriter({ lanes, gap, cuts }: Layout): (cells: readonly TableCell[]) => string {
  return (cells) => {
    let line = '';
    for (const [index, { width, right }] of lanes.entries()) {
      const { text, kind } = cells[index] ?? { text: '', kind: 'text' };
      // A later row may have text in a column that was measured as empty: better a misaligned line than lost text.
      if (width === undefined || (width === 0 && text === '')) continue;
      const cut = width > 0 && cuts && kind === 'text' && !right ? truncate(text, width) : text;
      line += (right ? padStart(cut, width) : padEnd(cut, width)) + blanks(gap);
    }
    // Other white space at the end belongs to a cell.
    let end = line.length;
    while (line[end - 1] === ' ') end -= 1;
    return `${line.slice(0, end)}\n`;
  };
}
