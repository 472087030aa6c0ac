import { pieces } from './chunk-rows.ts';
import { exactJson } from './exact-json.ts';
import { itemPieces } from './item-lines.ts';
import { jsonItemLine, jsonRowWriter } from './json-row.ts';
import type { RenderOptions, View } from './view.ts';

/** One JSON value a line: the rows, or the items of the view's own value, or that value. An empty list prints nothing. */
export async function* ndjson(view: View, _options: RenderOptions): AsyncIterable<string | Uint8Array> {
  if (view.items !== undefined) {
    yield* itemPieces(view.items, jsonItemLine(view, '\n'));
    return;
  }
  if (view.json === undefined) {
    const write = jsonRowWriter(view.columns);
    yield* pieces(view.rows, (row) => `${write(row)}\n`);
    return;
  }
  const values: readonly unknown[] = Array.isArray(view.json) ? view.json : [view.json];
  for (const value of values) yield `${exactJson(value)}\n`;
}
