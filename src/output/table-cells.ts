import { singleLine } from '../shared/sanitize.ts';
import type { Paint } from './paint.ts';
import type { Column, Row, Scalar } from './view.ts';

/** What a table shows of one value: harmless, on one line, painted. */
export interface TableCell {
  readonly text: string;
  /** A number is kept whole, however narrow the terminal; an id has up to 20 characters. */
  readonly kind: 'text' | 'number' | 'id';
}

/** The cells of a row, in the order of the columns. */
export function tableCells(columns: readonly Column[], row: Row, paint: Paint): TableCell[] {
  const clean = cleanRow(row);
  return columns.map((column) => {
    const value = clean[column.field] ?? null;
    return {
      text: column.cell === undefined ? (value === null ? '' : `${value}`) : column.cell(value, clean, paint),
      kind: typeof value === 'bigint' ? 'id' : typeof value === 'number' ? 'number' : 'text',
    };
  });
}

/** The row itself where all of its text is harmless, so that a column can compare rows by identity. */
function cleanRow(row: Row): Row {
  let copy: Record<string, Scalar> | undefined;
  for (const field in row) {
    const value = row[field];
    if (typeof value !== 'string') continue;
    const clean = singleLine(value);
    if (clean === value) continue;
    copy ??= { ...row };
    copy[field] = clean;
  }
  return copy ?? row;
}

/** In a right-aligned column, what follows two spaces is a remark: `0  out of stock`. It stands beside the number. */
export function splitRemark(text: string): { readonly main: string; readonly remark: string } {
  const at = text.indexOf('  ');
  return at < 0 ? { main: text, remark: '' } : { main: text.slice(0, at), remark: text.slice(at + 2) };
}
