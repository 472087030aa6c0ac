import { wholeWidth } from './lanes.ts';
import type { Paint } from './paint.ts';
import { tableCells } from './table-cells.ts';
import type { Column, Grid, RenderOptions, Row } from './view.ts';

/** Characters of a bar if there is room for all of it, and of the shortest that says something. */
const longestBar = 20;
const shortestBar = 5;
const gap = 2;

type BarColor = 'green' | 'yellow' | 'red' | 'cyan' | 'dim';

export interface ShareColumn {
  readonly title: string;
  /** The field that it is a share of: it goes after it. */
  readonly of: string;
  /** From 0 to 1; undefined: the row has none. */
  share(row: Row): number | undefined;
  color(row: Row): BarColor;
}

/** The rows with a share of the whole after one of their columns, in percent and as a bar if the terminal has room for it. */
export function withShare(
  columns: readonly Column[],
  rows: readonly Row[],
  { title, of, share, color }: ShareColumn,
  options: RenderOptions,
): Grid {
  const shareText = (row: Row) => {
    const part = share(row);
    return part === undefined ? '' : percent(part);
  };
  const number: Column = { field: 'share', title, align: 'right', cell: (_value, row) => shareText(row) };
  const after = columns.findIndex(({ field }) => field === of) + 1;
  const numbered = columns.toSpliced(after, 0, number);
  const { width = Number.POSITIVE_INFINITY } = options;
  const taken = wholeWidth(
    numbered,
    rows.map((row) => tableCells(numbered, row, { ...options, width: undefined })),
  );
  const length = Math.min(longestBar, width - taken - gap);
  if (length < shortestBar) return { columns: numbered, rows: [rows] };
  const bar: Column = {
    field: 'bar',
    title: '',
    remark: true,
    cell: (_value, row, paint) => {
      const part = share(row);
      return part === undefined ? '' : barText(part, length, paint, color(row));
    },
  };
  return { columns: numbered.toSpliced(after + 1, 0, bar), rows: [rows] };
}

/** Not 0% if there is something, nor 100% if something is missing. */
function percent(share: number): string {
  if (share > 0 && share < 0.01) return '<1%';
  return `${share < 1 ? Math.min(99, Math.round(100 * share)) : 100}%`;
}

/** `█████░░░░░`: full only if the share is the whole. */
export function barText(share: number, length: number, paint: Paint, color: BarColor): string {
  const full = Math.floor(Math.min(1, Math.max(0, share)) * length);
  const [filled, rest] = ['█'.repeat(full), '░'.repeat(length - full)];
  return (filled === '' ? '' : paint[color](filled)) + (rest === '' ? '' : paint.dim(rest));
}
