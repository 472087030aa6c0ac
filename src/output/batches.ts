/** Values in batches, as they come from their source. */
export type Batches<T> = AsyncIterable<readonly T[]> | Iterable<readonly T[]>;

const batchSize = 1000;

/**
 * Values converted when they are wanted, in batches. Can be read more than once where the source can.
 * @param source is asked for the values again each time that the batches are read
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

/** Returns batches of other values, each converted once it is wanted. */
export async function* mapBatches<T, Converted>(
  batches: Batches<T>,
  convert: (value: T) => Converted,
): AsyncGenerator<readonly Converted[]> {
  for await (const batch of batches) yield batch.map(convert);
}

/** Large enough that a write costs nothing beside its content, small enough for the memory. In characters. */
const largestChunk = 64 * 1024;

/** Values as text: a chunk for each batch, more for a large one, none for one without text. */
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
