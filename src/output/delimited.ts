import { stripControlsFromBody } from '../shared/sanitize.ts';
import { chunksOf, headed } from './batches.ts';
import type { Renderer, RenderOptions, Row, Scalar, View } from './view.ts';

/**
 * Renders CSV: RFC 4180 with LF line ends, and by default with a header. Text that a spreadsheet would run as a formula
 * gets an apostrophe in front, unless `raw` is set.
 */
export const csv: Renderer = (view, options) => {
  const text = options.raw ? csvText : (value: string) => csvText(guarded(value));
  // A row with a single empty value would be an empty line, and readers skip those.
  const quote = view.columns.length === 1 ? (value: string) => text(value) || '""' : text;
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
  const fields = view.columns.map(({ field }) => field);
  if (fields.length === 0) return;
  // Only a terminal has a width. There, text of the service must be safe; elsewhere it must be exact.
  const text = options.width === undefined ? quote : (value: string) => quote(stripControlsFromBody(value));
  const lines = linesOf(view, fields, separator, text);
  yield* (options.header ?? header) ? headed(`${fields.map(text).join(separator)}\n`, lines) : lines;
}

function linesOf(
  view: View,
  [first = '', ...others]: readonly string[],
  separator: string,
  text: Dialect['quote'],
): AsyncIterable<string> {
  return chunksOf(view.rows, (row) => {
    let line = cell(row, first, text);
    for (const field of others) line += separator + cell(row, field, text);
    return `${line}\n`;
  });
}

function cell(row: Row, field: string, quote: (text: string) => string): string {
  const value: Scalar | undefined = row[field];
  if (typeof value === 'string') return quote(value);
  return value === null || value === undefined ? quote('') : `${value}`;
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

function csvText(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Escapes tabs, line ends and backslashes, as JSON does. */
function tsvText(text: string): string {
  return text.replace(/[\t\n\r\\]/g, (character) => JSON.stringify(character).slice(1, -1));
}
