/** Values in batches, as they come from their source. */
export type Batches<T> = AsyncIterable<readonly T[]> | Iterable<readonly T[]>;

const batchSize = 1000;

/**
 * Converts values lazily, in batches. The result can be read more than once if the source can.
 * @param source returns the values each time that the batches are read
 */
export function batchesOf<T, Converted>(
  source: () => AsyncIterable<T> | Iterable<T>,
  convert: (value: T) => Converted,
): Batches<Converted> {
  return {
    async *[Symbol.asyncIterator]() {
      let batch: Converted[] = [];
      for await (const value of source()) {
        batch.push(convert(value));
        if (batch.length < batchSize) continue;
        yield batch;
        batch = [];
      }
      if (batch.length > 0) yield batch;
    },
  };
}

/** Length in characters at which a piece of output is yielded, so that writes are few and little memory is used. */
export const largestChunk = 64 * 1024;

/**
 * Yields a head right before the first piece, or at the end if there is none, so that an error before the first row
 * leaves no output.
 */
export async function* headed<Piece>(head: Piece, pieces: AsyncIterable<Piece>): AsyncGenerator<Piece> {
  let isFirst = true;
  for await (const piece of pieces) {
    if (isFirst) yield head;
    isFirst = false;
    yield piece;
  }
  if (isFirst) yield head;
}

/** Converts values to text: one piece per batch, more for a large one, none for a batch without text. */
export async function* chunksOf<T>(batches: Batches<T>, textOf: (value: T) => string): AsyncGenerator<string, void> {
  for await (const batch of batches) {
    let text = '';
    for (const value of batch) {
      text += textOf(value);
      if (text.length < largestChunk) continue;
      yield text;
      text = '';
    }
    if (text !== '') yield text;
  }
}
