import { singleLine } from '../shared/sanitize.ts';
import { shortened, splitRemark, type TableCell } from './table-cells.ts';
import { visibleWidth } from './text-width.ts';
import type { Column } from './view.ts';

/** How wide one column is. Widths are in columns of the terminal. */
export interface Lane {
  readonly title: string;
  readonly right: boolean;
  /** Right-aligned: the part that is never cut; a remark stands to the right of it. Otherwise 0. */
  readonly number: number;
  /** The room for remarks; 0 where the column has no remarks. */
  readonly remark: number;
  /** The whole column. */
  readonly width: number;
}

export interface Layout {
  readonly lanes: readonly Lane[];
  /** Spaces between two columns, and between a number and its remark. */
  readonly gap: number;
  /** Whether everything is within the width that there is. */
  readonly fits: boolean;
  /** Whether lines are still longer than the width, since what must stay whole does not fit. */
  readonly overflows: boolean;
  /** Whether text that is wider than its column is cut: only where there is a width to keep. */
  readonly cuts: boolean;
}

/** What the cells of one column need when nothing is cut. */
export interface Need {
  readonly title: string;
  readonly titleWidth: number;
  readonly right: boolean;
  /** The widest value that must stay whole. */
  readonly number: number;
  /** The widest text in a left-aligned column, its title included. */
  readonly text: number;
  readonly remark: number;
}

/** No text column is cut to fewer characters than this. */
const narrowest = 4;

/** @param width of the terminal, where there is one: no title is much wider */
export function measure(
  columns: readonly Column[],
  rows: readonly (readonly TableCell[])[],
  header: boolean,
  width: number | undefined,
): Need[] {
  return columns.map((column, index) => {
    const right = column.align === 'right';
    const line = header ? singleLine(column.title) : '';
    const title = width === undefined ? line : shortened(line, width);
    const titleWidth = visibleWidth(title);
    let number = 0;
    let text = titleWidth;
    let remark = 0;
    for (const row of rows) {
      const cell = row[index];
      if (cell === undefined) continue;
      const parts = right ? splitRemark(cell.text) : { main: cell.text, remark: '' };
      const main = visibleWidth(parts.main);
      if (right || column.whole || cell.kind !== 'text') number = Math.max(number, main);
      text = Math.max(text, main);
      remark = Math.max(remark, visibleWidth(parts.remark));
    }
    return { title, titleWidth, right, number, text, remark };
  });
}

/**
 * Fits columns into a width. Text gives way, the widest before the others, and the gaps with it; numbers never:
 * where even that is not enough, lines are longer than the width.
 */
export function layOut(needs: readonly Need[], width: number | undefined): Layout {
  if (width === undefined)
    return { ...arrange(needs, Number.POSITIVE_INFINITY, 2), fits: true, overflows: false, cuts: false };
  const whole = arrange(needs, Number.POSITIVE_INFINITY, 2);
  if (total(whole) <= width) return { ...whole, fits: true, overflows: false, cuts: true };
  for (let cap = width; cap >= narrowest; cap -= 1) {
    for (const gap of [2, 1]) {
      const layout = arrange(needs, cap, gap);
      if (total(layout) <= width) return { ...layout, fits: false, overflows: false, cuts: true };
    }
  }
  return { ...arrange(needs, narrowest, 1), fits: false, overflows: true, cuts: true };
}

/** Text that is cut to fewer characters than this says nothing. */
const leastText = 10;

/** Whether lines are too long, or some text is cut so short, that a line for each value is easier to read. */
export function isCramped({ lanes, overflows }: Layout, needs: readonly Need[]): boolean {
  if (overflows) return true;
  return lanes.some(({ right, width }, index) => {
    const text = needs[index]?.text ?? 0;
    return !right && width < Math.min(text, leastText);
  });
}

/** What rows after the measured ones may need: an id has at most 20 characters, the others are a guess. */
const reserve = { id: 20, number: 10, text: 12, remark: 12 };

/** The layout for more rows than were measured: columns are wider where there is room for that. */
export function layOutLong(
  columns: readonly Column[],
  measured: readonly (readonly TableCell[])[],
  header: boolean,
  width: number | undefined,
): Layout {
  const needs = measure(columns, measured, header, width);
  const generous = needs.map((need, index) => {
    const kind = measured[0]?.[index]?.kind ?? 'text';
    const remarks = need.right && columns[index]?.cell !== undefined;
    return {
      ...need,
      number: need.right || kind !== 'text' ? Math.max(need.number, reserve[kind]) : need.number,
      text: Math.max(need.text, reserve[kind]),
      remark: remarks ? Math.max(need.remark, reserve.remark) : need.remark,
    };
  });
  const layout = layOut(generous, width);
  return layout.fits ? layout : layOut(needs, width);
}

type Arrangement = Pick<Layout, 'lanes' | 'gap'>;

function arrange(needs: readonly Need[], cap: number, gap: number): Arrangement {
  return { gap, lanes: needs.map((need) => lane(need, cap, gap)) };
}

function lane({ title, titleWidth: ownTitle, right, number, text, remark }: Need, cap: number, gap: number): Lane {
  if (!right) return { title, right, number: 0, remark: 0, width: Math.max(number, Math.min(text, cap)) };
  const titleWidth = Math.min(ownTitle, cap);
  if (remark === 0) {
    const width = Math.max(number, titleWidth);
    return { title, right, number: width, remark: 0, width };
  }
  // The title may reach over the remarks, so that it does not push the numbers apart.
  const room = Math.min(remark, cap);
  const own = Math.max(number, titleWidth - gap - room);
  return { title, right, number: own, remark: room, width: own + gap + room };
}

function total({ lanes, gap }: Arrangement): number {
  return lanes.reduce((sum, { width }) => sum + width, gap * Math.max(0, lanes.length - 1));
}
