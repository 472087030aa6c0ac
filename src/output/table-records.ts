import { singleLine } from '../shared/sanitize.ts';
import { type CellOptions, shortened, type TableCell, tableCells } from './table-cells.ts';
import { barred, blanks, padEnd, visibleWidth, wrap } from './text-width.ts';
import type { Column, Row } from './view.ts';

/** Spaces between a title and its value. */
const recordGap = 2;

/**
 * One row with a line for each value, its title before it. Text is wrapped under itself; numbers and painted words are not.
 * A remark follows the value before it.
 */
export function recordLines(columns: readonly Column[], cells: readonly TableCell[], options: CellOptions): string {
  const { width = Number.POSITIVE_INFINITY, paint } = options;
  const widestTitle = Math.max(10, width >> 1);
  const titles = columns.map(({ title }) => {
    return width === Number.POSITIVE_INFINITY ? singleLine(title) : shortened(singleLine(title), widestTitle);
  });
  const indent = Math.max(0, ...titles.map(visibleWidth)) + recordGap;
  const room = Math.max(10, width - indent);
  const remark = (index: number) => (columns[index]?.remark ? `  ${cells[index]?.text ?? ''}` : '');
  return titles
    .flatMap((title, index) => {
      if (columns[index]?.remark) return [];
      const { text, kind } = cells[index] ?? { text: '', kind: 'text' };
      const isFixed = kind !== 'text' || text.includes('\x1b') || width === Number.POSITIVE_INFINITY;
      const lines = isFixed
        ? [text + remark(index + 1)]
        : columns[index]?.foreign
          ? barred(text, room)
          : wrap(text, room);
      return `${padEnd(paint.bold(title), indent)}${lines.join(`\n${blanks(indent)}`)}`.trimEnd().concat('\n');
    })
    .join('');
}

/** Makes records of the rows of a list: of each only the fields that it has, with a blank line between two. */
export function recordWriter(columns: readonly Column[], options: CellOptions): (row: Row) => string {
  const uncut = { ...options, bars: false };
  let before = '';
  return (row) => {
    const cells = tableCells(columns, row, { ...uncut, width: undefined });
    const isFilled = (_: unknown, index: number): boolean => (cells[index]?.text ?? '') !== '';
    const record = before + recordLines(columns.filter(isFilled), cells.filter(isFilled), options);
    before = '\n';
    return record;
  };
}

/** `name  value (remark)`, wrapped under the value. */
export function factLines(rows: readonly (readonly TableCell[])[], options: CellOptions): string {
  const titles = rows.map(([name]) => ({ field: 'name', title: name?.text ?? '' }));
  const values = rows.map(([, value, remark]): TableCell => {
    const parts = [value?.text ?? '', remark === undefined || remark.text === '' ? '' : `(${remark.text})`];
    return { text: parts.filter((part) => part !== '').join(' '), kind: 'text' };
  });
  return recordLines(titles, values, options);
}
