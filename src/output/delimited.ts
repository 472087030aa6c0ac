import { stripControlsFromBody } from '../shared/sanitize.ts';
import {
  chunksOf,
  headed,
  itemFields,
  type Renderer,
  type RenderOptions,
  type Row,
  type Scalar,
  type View,
} from './view.ts';

/**
 * RFC 4180 with LF line ends; with a header unless the options say otherwise. A text that a spreadsheet would take for a formula
 * has an apostrophe before it, unless `raw`.
 */
export const csv: Renderer = (view, options) => {
  const text = options.raw ? csvText : (value: string) => csvText(guarded(value));
  // A row that is one empty value would be an empty line, which readers skip.
  const quote = view.columns.length === 1 ? (value: string) => text(value) || '""' : text;
  return delimited(view, options, { separator: ',', header: true, quote });
};

/** Tab-separated, a row always one line: tab, line ends and backslash are escaped. No header unless the options say otherwise. */
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
  // Only a terminal has a width. There, what the service sent must be harmless; elsewhere it must be exact.
  const text = options.width === undefined ? quote : (value: string) => quote(stripControlsFromBody(value));
  const lines = linesOf(view, fields, separator, text);
  yield* (options.header ?? header) ? headed(`${fields.map(text).join(separator)}\n`, lines) : lines;
}

async function* linesOf(
  view: View,
  [first = '', ...others]: readonly string[],
  separator: string,
  text: Dialect['quote'],
): AsyncGenerator<string> {
  if (view.items !== undefined) {
    const cells = itemFields(view).map((field, index) => ({ field, before: index === 0 ? '' : separator }));
    // Late, here and in the other formats: few commands print items.
    const { itemPieces } = await import('./item-lines.ts');
    yield* itemPieces(view.items, { cells, end: '\n', status: text });
    return;
  }
  yield* chunksOf(view.rows, (row) => {
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

/** Matches what a spreadsheet takes for a formula, in full width, too, with or without the apostrophe that keeps it from doing so. */
export const formula = /^'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;

/** Returns the text with an apostrophe that keeps a spreadsheet from running it; readers of petstock take one off again. */
export function guarded(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

function csvText(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** With the escapes of JSON. */
function tsvText(text: string): string {
  return text.replace(/[\t\n\r\\]/g, (character) => JSON.stringify(character).slice(1, -1));
}
