import type { Paint } from './paint.ts';
import { tableCells } from './table-cells.ts';
import { layOut, measure } from './table-layout.ts';
import type { Column, Grid, RenderOptions, Row } from './view.ts';

/** Characters of a bar where there is room for all of it, and of the shortest that says something. */
const longestBar = 20;
const shortestBar = 5;
const gap = 2;
const percentWidth = 4;

export interface ShareColumn {
  readonly title: string;
  /** From 0 to 1; undefined: the row has none. */
  share(row: Row): number | undefined;
  color(row: Row): 'green' | 'yellow' | 'red' | 'cyan' | 'dim';
}

/** The rows with one column more: a share of the whole, in percent and as a bar that is as long as the terminal has room for. */
export function withShare(
  columns: readonly Column[],
  rows: readonly Row[],
  added: ShareColumn,
  options: RenderOptions,
): Grid {
  const length = barLength(columns, rows, options);
  const column: Column = {
    field: 'share',
    title: added.title,
    align: 'right',
    cell: (_value, row, paint) => {
      const share = added.share(row);
      if (share === undefined) return '';
      const bar = length === 0 ? '' : `  ${barText(share, length, paint, added.color(row))}`;
      return `${percent(share)}${bar}`;
    },
  };
  return { columns: [...columns, column], rows: [rows] };
}

function barLength(columns: readonly Column[], rows: readonly Row[], { width, paint }: RenderOptions): number {
  if (width === undefined) return longestBar;
  const cells = rows.map((row) => tableCells(columns, row, paint));
  const { lanes } = layOut(measure(columns, cells, true, undefined), undefined);
  const taken = lanes.reduce((sum, lane) => sum + lane.width + gap, 0);
  const room = Math.min(longestBar, width - taken - percentWidth - gap);
  return room < shortestBar ? 0 : room;
}

/** Not 0% where there is something, nor 100% where something is missing. */
function percent(share: number): string {
  if (share > 0 && share < 0.01) return '<1%';
  return `${share < 1 ? Math.min(99, Math.round(100 * share)) : 100}%`;
}

/** `█████░░░░░`: full only where the share is the whole. */
export function barText(
  share: number,
  length: number,
  paint: Paint,
  color: 'green' | 'yellow' | 'red' | 'cyan' | 'dim',
): string {
  const full = Math.floor(Math.min(1, Math.max(0, share)) * length);
  const [filled, rest] = ['█'.repeat(full), '░'.repeat(length - full)];
  return (filled === '' ? '' : paint[color](filled)) + (rest === '' ? '' : paint.dim(rest));
}
