import { csv, tsv } from './delimited.ts';
import { json, ndjson } from './json.ts';
import { table } from './table.ts';
import type { Format, Renderer } from './view.ts';

/** The renderers by the name of their format. What is heavy is loaded by the renderer that needs it. */
export const renderers: Readonly<Record<Format, Renderer>> = { table, json, ndjson, csv, tsv };
