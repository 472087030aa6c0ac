import { pieces } from './chunk-rows.ts';
import { exactJson } from './exact-json.ts';
import { itemPieces } from './item-lines.ts';
import { jsonItemLine, jsonRowWriter } from './json-row.ts';
import type { RenderOptions, View } from './view.ts';

/**
 * A list is an array with one item per line, so that it streams and can be read by lines; one row is an object on one
 * line. Ids are numbers, as in the API, with every digit.
 */
export async function* json(view: View, _options: RenderOptions): AsyncIterable<string | Uint8Array> {
  if (view.items !== undefined) {
    yield* jsonItems(itemPieces(view.items, jsonItemLine(view, separator)));
    return;
  }
  if (view.json !== undefined) {
    yield `${exactJson(view.json)}\n`;
    return;
  }
  const write = jsonRowWriter(view.columns);
  if (view.shape === 'one') yield* pieces(view.rows, (row) => `${write(row)}\n`);
  else yield* jsonArray(view.rows, write);
}

async function* jsonArray(rows: View['rows'], write: ReturnType<typeof jsonRowWriter>): AsyncIterable<string> {
  // One line is held back: only what follows it tells whether it ends with a comma.
  let held = '';
  yield* pieces(rows, (row) => {
    const before = held === '' ? '[\n' : `${held},\n`;
    held = write(row);
    return before;
  });
  yield held === '' ? '[]\n' : `${held}\n]\n`;
}

const separator = ',\n';

/** One piece is held back: only the end of the items tells which comma is one too many. */
async function* jsonItems(pieces: AsyncIterable<Uint8Array>): AsyncIterable<string | Uint8Array> {
  let held: Uint8Array | undefined;
  for await (const piece of pieces) {
    yield held ?? '[\n';
    held = piece;
  }
  if (held === undefined) {
    yield '[]\n';
    return;
  }
  yield Buffer.concat([held.subarray(0, -separator.length), Buffer.from('\n]\n')]);
}
