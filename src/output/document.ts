import { pieces } from './chunk-rows.ts';
import { exactJson } from './exact-json.ts';
import type { RowDocument, View } from './view.ts';

/** One object on a line of its own for each row. */
export async function* documentNdjson({ rows }: View, { row }: RowDocument): AsyncIterable<string> {
  yield* pieces(rows, (item) => `${row(item)}\n`);
}

/**
 * The object `head` with a last member `rows`: an array with one row a line, so that a report of any length is written
 * as it is read.
 */
export async function* documentJson({ rows }: View, { head, row }: RowDocument): AsyncIterable<string> {
  const members = exactJson(head).slice(0, -1);
  const opening = `${members}${members === '{' ? '' : ','}"rows":[`;
  // One line is held back: only what follows it tells whether it ends with a comma.
  let held: string | undefined;
  yield* pieces(rows, (item) => {
    const before = held === undefined ? opening : `${held},`;
    held = row(item);
    return `${before}\n`;
  });
  yield held === undefined ? `${opening}]}\n` : `${held}\n]}\n`;
}
