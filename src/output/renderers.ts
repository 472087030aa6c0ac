import { csv, tsv } from './delimited.ts';
import { documentJson, documentNdjson } from './document.ts';
import { json } from './json.ts';
import { ndjson } from './ndjson.ts';
import { table } from './table.ts';
import { type Format, formats, type Renderer } from './view.ts';

/** The renderers by the name of their format. What is heavy is loaded by the renderer that needs it. */
export const renderers: Readonly<Record<Format, Renderer>> = {
  table: (view, options) => table({ ...view, ...view.table }, options),
  json: (view, options) => (view.document ? documentJson(view, view.document) : json(view, options)),
  ndjson: (view, options) => (view.document ? documentNdjson(view, view.document) : ndjson(view, options)),
  csv,
  tsv,
};

export function isFormat(text: string): text is Format {
  return (formats as readonly string[]).includes(text);
}
