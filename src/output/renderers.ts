import { csv, tsv } from './delimited.ts';
import { json } from './json.ts';
import { ndjson } from './ndjson.ts';
import { table } from './table.ts';
import { type Format, formats, type Renderer } from './view.ts';

/** The renderers by the name of their format. What is heavy is loaded by the renderer that needs it. */
export const renderers: Readonly<Record<Format, Renderer>> = { table, json, ndjson, csv, tsv };

export function isFormat(text: string): text is Format {
  return (formats as readonly string[]).includes(text);
}
