import { singleLine } from '../shared/sanitize.ts';
import type { Paint } from './paint.ts';
import { truncate } from './text-width.ts';
import type { Column, Row, Scalar } from './view.ts';

/** What a table shows of one value: harmless, on one line, painted. */
export interface TableCell {
  readonly text: string;
  /** A number is kept whole, however narrow the terminal; an id has up to 20 characters. */
  readonly kind: 'text' | 'number' | 'id';
}

/**
 * The cells of a row, in the order of the columns.
 * @param width of the terminal: longer text is cut to it before anything is measured; undefined: nothing is cut
 */
export function tableCells(columns: readonly Column[], row: Row, paint: Paint, width?: number): TableCell[] {
  const clean = cleanRow(columns, row, width);
  return columns.map((column) => {
    const value = clean[column.field] ?? null;
    return {
      text: column.cell === undefined ? (value === null ? '' : `${value}`) : column.cell(value, clean, paint),
      kind: typeof value === 'bigint' ? 'id' : typeof value === 'number' ? 'number' : 'text',
    };
  });
}

/** The row itself where all of its text is harmless and short, so that a column can compare rows by identity. */
function cleanRow(columns: readonly Column[], row: Row, width: number | undefined): Row {
  let copy: Record<string, Scalar> | undefined;
  for (const { field, whole } of columns) {
    const value = row[field];
    if (typeof value !== 'string') continue;
    const line = singleLine(value);
    const clean = width === undefined || whole ? line : shortened(line, width);
    if (clean === value) continue;
    copy ??= Object.assign(Object.create(null) as Record<string, Scalar>, row);
    copy[field] = clean;
  }
  return copy ?? row;
}

/**
 * A row that is kept while a table is measured: a text that is much longer than the terminal is cut, so that the memory does not hold it.
 * Its cells are the same.
 */
export function rowToKeep(columns: readonly Column[], row: Row, width: number): Row {
  const isLong = ({ field, whole }: Column): boolean => {
    const value = row[field];
    return !whole && typeof value === 'string' && value.length > (width + 2) * longestCharacter;
  };
  const long = columns.filter(isLong);
  if (long.length === 0) return row;
  const cuts = long.map(({ field }) => [field, detached(shortened(singleLine(`${row[field]}`), width))]);
  return Object.assign(Object.create(null) as Record<string, Scalar>, row, Object.fromEntries(cuts));
}

/** A copy: V8 keeps the whole of a text of which it keeps a part. */
function detached(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}

/** Few characters have more code units than this; more marks on one letter can't be shown. */
const longestCharacter = 16;

/** The text cut to little more than `width` columns, so that it still does not fit where the whole did not. */
export function shortened(text: string, width: number): string {
  // At least a word: what is said of a sold pet hangs on its status.
  const room = Math.max(width + 2, 12);
  const most = room * longestCharacter;
  // Not half of a character of two code units.
  const head = text.length > most ? `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…` : text;
  return truncate(head, room);
}

/** In a right-aligned column, what follows two spaces is a remark: `0  out of stock`. It stands beside the number. */
export function splitRemark(text: string): { readonly main: string; readonly remark: string } {
  const at = text.indexOf('  ');
  return at < 0 ? { main: text, remark: '' } : { main: text.slice(0, at), remark: text.slice(at + 2) };
}
