import { isPlainName, singleLine } from '../shared/sanitize.ts';
import { type CellOptions, same, shortened, type TableCell, tableCells } from './table-cells.ts';
import { barred, blanks, padEnd, visibleWidth, wrap } from './text-width.ts';
import type { Column, Row } from './view.ts';

/** Returns the cells of a row without truncating text or adding bars. The caller wraps the text, and adds bars. */
export function uncutCells(columns: readonly Column[], row: Row, options: CellOptions): TableCell[] {
  return tableCells(columns, row, { ...options, width: undefined, bars: false });
}

const recordGap = 2;

/**
 * Returns one row as lines: one for each value, with its title before it. Text is wrapped under itself; numbers and
 * painted words are not. A remark follows the value before it.
 */
function recordLines(columns: readonly Column[], cells: readonly TableCell[], options: CellOptions): string {
  const { width = 80, paint, redact = same } = options;
  const titles = columns.map(({ title }) => shortened(singleLine(redact(title)), Math.max(10, width >> 1)));
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

/**
 * Returns a function that renders each row of a list as a record, with only its present fields. Records have a blank
 * line between them.
 */
export function recordWriter(columns: readonly Column[], options: CellOptions): (row: Row) => string {
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
export function factLines(rows: readonly (readonly TableCell[])[], options: CellOptions): string {
  const titles = rows.map(([name]) => ({ field: 'name', title: name?.text ?? '' }));
  const values = rows.map(([, value, remark]): TableCell => {
    const parts = [value?.text ?? '', remark === undefined || remark.text === '' ? '' : `(${remark.text})`];
    return { text: parts.filter((part) => part !== '').join(' '), kind: 'text' };
  });
  return recordLines(titles, values, options);
}
