import { stripControlsFromBody } from '../shared/sanitize.ts';
import { scalarOf } from './json-format.ts';
import {
  type Column,
  chunksOf,
  flatColumns,
  headed,
  type Renderer,
  type RenderOptions,
  type Row,
  type View,
  valueIn,
} from './view.ts';

/**
 * Renders CSV: RFC 4180 with LF line ends, and by default with a header. Text that a spreadsheet would run as a formula
 * gets an apostrophe in front, unless `raw` is set.
 */
export const csv: Renderer = (view, options) => {
  const text = options.raw ? csvText : (value: string) => csvText(guarded(value));
  // A row with a single empty value would be an empty line, and readers skip those.
  const quote = flatColumns(view.columns).length === 1 ? (value: string) => text(value) || '""' : text;
  return delimited(view, options, { separator: ',', header: true, quote });
};

/**
 * Renders tab-separated values, each row on one line: tabs, line ends and backslashes are escaped. By default without a
 * header.
 */
export const tsv: Renderer = (view, options) =>
  delimited(view, options, { separator: '\t', header: false, quote: tsvText });

interface Dialect {
  readonly separator: string;
  readonly header: boolean;
  quote(text: string): string;
}

async function* delimited(
  view: View,
  options: RenderOptions,
  { separator, header, quote }: Dialect,
): AsyncIterable<string> {
  const columns = flatColumns(view.columns);
  if (columns.length === 0) return;
  // Only a terminal has a width. There, text of the service must be safe; elsewhere it must be exact.
  const text = options.width === undefined ? quote : (value: string) => quote(stripControlsFromBody(value));
  const lines = chunksOf(view.rows, (row) => {
    let line = '';
    for (const [index, column] of columns.entries()) line += (index === 0 ? '' : separator) + cellOf(column, row, text);
    return `${line}\n`;
  });
  yield* (options.header ?? header)
    ? headed(`${columns.map(({ field }) => text(field)).join(separator)}\n`, lines)
    : lines;
}

function cellOf(column: Column, row: Row, quote: Dialect['quote']): string {
  const value = valueIn(column, row);
  if (typeof value === 'bigint' || typeof value === 'number') return `${value}`;
  const shown = scalarOf(value) ?? '';
  return typeof shown === 'string' ? quote(shown) : `${shown}`;
}

/** Matches a formula of a spreadsheet, also in full width, and with any number of apostrophes in front. */
const formula = /^'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;

/** Adds an apostrophe in front of a formula, so that no spreadsheet runs it. `readChanges` removes it again. */
export function guarded(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

/** Removes the apostrophe that `guarded` has added. */
export function unguarded(text: string): string {
  return text.startsWith("'") && formula.test(text) ? text.slice(1) : text;
}

/**
 * Returns a function that puts a text in quotes if RFC 4180 demands it, or if it has white space at an end, which some
 * readers remove.
 */
export function csvQuoting(delimiter: string): (text: string) => string {
  const needsQuotes = new RegExp(`["\\r\\n\\${delimiter}]|^\\s|\\s$`);
  return (text) => (needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
}

const csvText = csvQuoting(',');

/** Escapes tabs, line ends and backslashes, as JSON does. Most text has none, and a test is faster than a replacement. */
function tsvText(text: string): string {
  if (!/[\t\n\r\\]/.test(text)) return text;
  return text.replace(/[\t\n\r\\]/g, (character) => JSON.stringify(character).slice(1, -1));
}
