import type { Row, View } from './view.ts';

/** Large enough that a write costs nothing beside its content, small enough for the memory. In characters. */
const largestPiece = 64 * 1024;

/** Rows as text, line by line: a piece for each batch, more for a large one, none for one without text. */
export async function* pieces(batches: View['rows'], line: (row: Row) => string): AsyncGenerator<string, void> {
  for await (const batch of batches) {
    let text = '';
    for (const row of batch) {
      text += line(row);
      if (text.length < largestPiece) continue;
      yield text;
      text = '';
    }
    if (text !== '') yield text;
  }
}
