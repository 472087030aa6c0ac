import { singleLine } from '../shared/sanitize.ts';
import { same, shortened, type TableCell } from './table-cells.ts';
import type { Paint } from './terminal.ts';
import { blanks, padEnd, padStart, truncate, visibleWidth } from './text-width.ts';
import type { Column, RenderOptions } from './view.ts';

/** A column of a table with the width that it needs and the width that it has, in columns of the terminal. */
export interface TableColumn {
  readonly title: string;
  readonly right: boolean;
  /** The width of the widest value that must not be truncated; 0 if there is no such value. */
  readonly whole: number;
  /** The width of the widest value, including the title. */
  readonly widest: number;
  /** The number of `Column.yields`; 0 for a column that is never left out. */
  readonly yields: number;
  /** 0 if the column is empty; undefined if there is no room, so that the column is left out. */
  readonly width: number | undefined;
}

export interface Layout {
  readonly lanes: readonly TableColumn[];
  readonly gap: number;
  readonly fits: boolean;
  /** Whether lines are longer than the terminal, because the columns can't be narrowed any further. */
  readonly overflows: boolean;
  /** Whether text that is wider than its column is truncated, because the width is limited. */
  readonly cuts: boolean;
}

/** Minimum width to which a column of text is narrowed. */
const narrowest = 4;

type LayoutOptions = Pick<RenderOptions, 'header' | 'width' | 'redact'>;
export type Cells = readonly (readonly TableCell[])[];

/** Measures the columns at their full width. Long titles are truncated with `shortened`. */
function measure(
  columns: readonly Column[],
  rows: Cells,
  { header = true, width, redact = same }: LayoutOptions,
): TableColumn[] {
  return columns.map((column, index) => {
    const right = column.align === 'right';
    const line = header ? singleLine(redact(column.title)) : '';
    const title = width === undefined ? line : shortened(line, width);
    let whole = 0;
    let widest = visibleWidth(title);
    for (const row of rows) {
      const cell = row[index];
      if (cell === undefined) continue;
      const own = visibleWidth(cell.text);
      if (right || column.whole || cell.kind !== 'text') whole = Math.max(whole, own);
      widest = Math.max(widest, own);
    }
    return { title, right, whole, widest, yields: column.yields ?? 0, width: widest };
  });
}

/**
 * Fits columns into a width, in steps until they fit. If some columns yield, the text of the others is truncated to 30
 * columns, and then that of the yielding columns to ten. These are then left out one after the other, but the last of
 * them is first truncated to four columns. Finally all text is truncated to four columns, the widest first, and the
 * gaps are narrowed. Numbers are never truncated, so lines may still be longer than the width.
 */
export function layOut(columns: readonly Column[], rows: Cells, options: LayoutOptions): Layout {
  const lanes = measure(columns, rows, options);
  const { width = Number.POSITIVE_INFINITY } = options;
  const fits = total(lanes, 2) <= width;
  let layout: Layout = { lanes, gap: 2, fits, overflows: false, cuts: Number.isFinite(width) };
  if (fits) return layout;
  for (const { caps, gap } of steps(lanes, width)) {
    const narrowed = lanes.map((lane) => capped(lane, caps.get(lane.yields) ?? Number.POSITIVE_INFINITY));
    layout = { ...layout, lanes: narrowed, gap, overflows: total(narrowed, gap) > width };
    if (!layout.overflows) break;
  }
  return layout;
}

function capped(lane: TableColumn, cap: number): TableColumn {
  return { ...lane, width: cap === 0 ? undefined : Math.max(lane.whole, Math.min(lane.widest, cap)) };
}

function total(lanes: readonly TableColumn[], gap: number): number {
  return lanes.reduce((sum, { width = 0 }) => sum + (width === 0 ? 0 : width + gap), -gap);
}

/** Text wider than this is truncated before any column is left out. */
const wideText = 30;

/** Text truncated to fewer columns than this is useless. */
const minText = 10;

/** Yields the steps of narrowing: the maximum widths by `Column.yields`, and the gap. */
function* steps(lanes: readonly TableColumn[], width: number) {
  const levels = [...new Set(lanes.map(({ yields }) => yields))].filter((level) => level > 0).sort((a, b) => b - a);
  const caps = new Map<number, number>();
  for (let cap = width; levels.length > 0 && cap >= wideText; cap -= 1) yield { caps: caps.set(0, cap), gap: 2 };
  for (let left = levels; left.length > 0; left = left.slice(1)) {
    for (const level of levels) caps.set(level, left.includes(level) ? width : 0);
    const least = left.length === 1 ? narrowest : minText;
    for (const level of left) {
      for (let cap = width; cap >= least; cap -= 1) yield { caps: caps.set(level, cap), gap: 2 };
    }
  }
  for (const level of levels) caps.set(level, 0);
  for (let cap = Math.max(narrowest, Math.min(width, caps.get(0) ?? width)); cap >= narrowest; cap -= 1) {
    for (const gap of [2, 1]) yield { caps: caps.set(0, cap), gap };
  }
}

/** Reports whether lines are too long, or text is truncated so much, that a line per value is easier to read. */
export function isCramped({ lanes, overflows }: Layout): boolean {
  return (
    overflows ||
    lanes.some(({ right, yields, width = 0, widest }) => !right && yields === 0 && width < Math.min(widest, minText))
  );
}

/** Width reserved for rows after the measured ones: an id has at most 20 characters, the others are estimates. */
const reserve = { id: 20, number: 10, text: 12 };

/**
 * Returns the layout for more rows than were measured: columns are wider if there is room, unless the measured rows are
 * typical.
 */
export function layOutLong(
  columns: readonly Column[],
  measured: Cells,
  options: LayoutOptions,
  areTypical: boolean,
): Layout {
  const kindOf = (index: number) => measured[0]?.[index]?.kind ?? 'text';
  const roomy = columns.map((_, index) => ({ kind: kindOf(index), text: '0'.repeat(reserve[kindOf(index)]) }));
  const layout = layOut(columns, areTypical ? measured : [...measured, roomy], options);
  return widenLastColumn(layout.fits ? layout : layOut(columns, measured, options), options.width);
}

/** Gives the rest of the line to the last column, because a later row may have longer text. */
function widenLastColumn(layout: Layout, width: number | undefined): Layout {
  const last = layout.lanes.findLastIndex((lane) => lane.width !== undefined);
  const rest = (width ?? 0) - total(layout.lanes, layout.gap);
  if (rest <= 0) return layout;
  return {
    ...layout,
    lanes: layout.lanes.map((lane, at) => (at === last ? { ...lane, width: (lane.width ?? 0) + rest } : lane)),
  };
}

/** Returns the line of titles in bold, in the format of `lineWriter`. */
export function headerLine(layout: Layout, paint: Paint): string {
  const titles = layout.lanes.map(({ title }): TableCell => ({ text: paint.bold(title), kind: 'text' }));
  return lineWriter(layout)(titles);
}

/** Returns a function that writes lines at fixed widths, each with its line end. */
export function lineWriter(layout: Layout): (cells: readonly TableCell[]) => string {
  const writers = layout.lanes.map((lane) => cellWriter(lane, layout));
  return (cells) => {
    let line = '';
    for (let index = 0; index < writers.length; index += 1) {
      const cell = cells[index];
      if (cell !== undefined) line += writers[index]?.(cell) ?? '';
    }
    return `${withoutSpaces(line)}\n`;
  };
}

/** Removes trailing spaces; other white space at the end belongs to a cell. */
function withoutSpaces(line: string): string {
  let end = line.length;
  while (line[end - 1] === ' ') end -= 1;
  return line.slice(0, end);
}

/**
 * Returns a function that writes a cell. Most columns have few different values, whose text is remembered; ids differ,
 * but are quick to pad.
 */
function cellWriter({ right, width }: TableColumn, { gap, cuts }: Layout): (cell: TableCell) => string {
  if (width === undefined) return () => '';
  const after = blanks(gap);
  // A later row may have text in a column that was measured as empty: better a misaligned line than lost text.
  if (width === 0) return ({ text }) => (text === '' ? '' : text + after);
  const known = new Map<string, string>();
  return ({ text, kind }) => {
    if (kind === 'id' && right) return padStart(text, width) + after;
    const remembered = known.get(text);
    if (remembered !== undefined) return remembered;
    const cut = cuts && kind === 'text' && !right ? truncate(text, width) : text;
    const padded = (right ? padStart(cut, width) : padEnd(cut, width)) + after;
    if (known.size < 1000) known.set(text, padded);
    return padded;
  };
}
