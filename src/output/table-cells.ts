import { isPlainName, singleLine } from '../shared/sanitize.ts';
import { exactJson } from './exact-json.ts';
import { bar, truncate } from './text-width.ts';
import { type Column, type RenderOptions, type Row, type Scalar, valueIn } from './view.ts';

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
  const { paint } = options;
  return columns.map((column) => {
    const value = cleanValue(column, row, options);
    let shown = value === null && column.mayBeAbsent ? paint.dim('-') : `${value ?? ''}`;
    if (column.cell !== undefined && !(value === null && column.mayBeAbsent)) shown = column.cell(value, row, paint);
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
 * Returns the value that a column shows: a text is safe, on one line, and, unless the column is `whole`, little longer
 * than the terminal is wide.
 */
function cleanValue(column: Column, row: Row, { width, redact = same }: CellOptions): Scalar {
  const value = scalarOf(valueIn(column, row));
  if (typeof value !== 'string') return value;
  const line = singleLine(redact(value));
  return width === undefined || column.whole ? line : shortened(line, width);
}

/** Matches integers of up to 40 digits. A longer number is no id, and converting it would take more than linear time. */
const integer = /^-?(0|[1-9]\d{0,39})$/;

/** Returns a scalar as it is; null for an absent value, an integer of JSON as a bigint, and any other value as JSON. */
export function scalarOf(value: unknown): Scalar {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'object') return value as Scalar;
  const text = exactJson(value);
  return integer.test(text) ? BigInt(text) : text;
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
