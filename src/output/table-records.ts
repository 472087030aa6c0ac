import { singleLine } from '../shared/sanitize.ts';
import { shortened, type TableCell, tableCells } from './table-cells.ts';
import { blanks, padEnd, visibleWidth, wrap } from './text-width.ts';
import type { Column, RenderOptions, Row } from './view.ts';

/** Between a title and its value. */
const recordGap = 2;

/** One row with a line for each value, its title before it. Text is wrapped under itself; numbers and painted words are not. */
export function recordLines(columns: readonly Column[], cells: readonly TableCell[], options: RenderOptions): string {
  const widestTitle = options.width === undefined ? undefined : Math.max(10, options.width >> 1);
  const titles = columns.map(({ title }) => {
    const line = singleLine(title);
    return widestTitle === undefined ? line : shortened(line, widestTitle);
  });
  const indent = Math.max(0, ...titles.map(visibleWidth)) + recordGap;
  const room = options.width === undefined ? Number.POSITIVE_INFINITY : Math.max(10, options.width - indent);
  return titles
    .map((title, index) => {
      const { text, kind } = cells[index] ?? { text: '', kind: 'text' };
      const lines = kind !== 'text' || text.includes('\x1b') ? [text] : wrap(text, room);
      return `${padEnd(options.paint.bold(title), indent)}${lines.join(`\n${blanks(indent)}`)}`.trimEnd();
    })
    .join('\n')
    .concat('\n');
}

/** Rows of a list on a narrow terminal: of each only the fields that it has, with a blank line between two. */
export function recordWriter(columns: readonly Column[], options: RenderOptions): (row: Row) => string {
  let before = '';
  return (row) => {
    const record = before + listRecord(columns, tableCells(columns, row, options.paint), options);
    before = '\n';
    return record;
  };
}

function listRecord(columns: readonly Column[], cells: readonly TableCell[], options: RenderOptions): string {
  const filled = (_: unknown, index: number): boolean => (cells[index]?.text ?? '') !== '';
  return recordLines(columns.filter(filled), cells.filter(filled), options);
}

/** `name  value (remark)`, wrapped under the value. */
export function factLines(rows: readonly (readonly TableCell[])[], options: RenderOptions): string {
  const titles = rows.map(([name]) => ({ field: 'name', title: name?.text ?? '' }));
  const values = rows.map(([, value, remark]): TableCell => {
    const parts = [value?.text ?? '', remark === undefined || remark.text === '' ? '' : `(${remark.text})`];
    return { text: parts.filter((part) => part !== '').join(' '), kind: 'text' };
  });
  return recordLines(titles, values, options);
}
