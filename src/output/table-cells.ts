import { isPlainName, singleLine } from '../shared/sanitize.ts';
import { bar, truncate } from './text-width.ts';
import type { Column, RenderOptions, Row, Scalar } from './view.ts';

/** A value as shown in a table: safe, on one line, painted. */
export interface TableCell {
  readonly text: string;
  /** Numbers and ids are never truncated, however narrow the terminal. An id has up to 20 characters. */
  readonly kind: 'text' | 'number' | 'id';
}

/** Options for cells. `redact` removes keys before text is truncated, because half of a key could not be recognized. */
export interface CellOptions extends Pick<RenderOptions, 'width' | 'paint' | 'redact'> {
  /** Whether quoted text has a bar in front; default true. */
  readonly bars?: boolean;
}

/**
 * Returns the cells of a row in the order of the columns.
 * @param options with a `width`, longer text is truncated before anything is measured
 */
export function tableCells(columns: readonly Column[], row: Row, options: CellOptions): TableCell[] {
  const clean = cleanRow(columns, row, options);
  return columns.map((column) => {
    // A field may have the name of an inherited property.
    const value = (Object.hasOwn(clean, column.field) ? clean[column.field] : null) ?? null;
    const shown = column.cell === undefined ? `${value ?? ''}` : column.cell(value, clean, options.paint);
    return {
      text: options.bars !== false && needsBar(column, value) ? bar + shown : shown,
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
 * Returns the row with each text safe, on one line, and, unless its column is `whole`, little longer than the terminal
 * is wide. Returns the same object if nothing changes.
 */
function cleanRow(columns: readonly Column[], row: Row, { width, redact = same }: CellOptions): Row {
  let clean = row;
  for (const { field, whole } of columns) {
    const value = row[field];
    if (typeof value !== 'string') continue;
    const line = singleLine(redact(value));
    const text = width === undefined || whole ? line : shortened(line, width);
    if (text !== value) clean = { ...clean, [field]: text };
  }
  return clean;
}

export const same = (text: string): string => text;

/**
 * Number of code units kept for each column. Few characters have more, and more marks on one letter can't be displayed.
 */
const maxCharacter = 16;

/**
 * Returns the text truncated to little more than `width` columns, so that it still does not fit if the whole text did
 * not.
 */
export function shortened(text: string, width: number): string {
  // A known status is never truncated, because the remark about a low stock depends on it.
  const room = Math.max(width + 2, 12);
  const most = room * maxCharacter;
  // A character of two code units is not split.
  const head = text.length > most ? `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…` : text;
  return truncate(head, room);
}
