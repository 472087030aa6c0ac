import { createFilter } from '../../../inventory/filter.ts';
import { type ColumnBatches, ItemColumns } from '../../../inventory/item-columns.ts';

/** The same batches, and, once they are read, the pets that were asked for and did not come. */
export interface MissingPets extends ColumnBatches {
  readonly petIds: ReadonlySet<bigint>;
}

/** @param asked undefined: all pets, so that none is missing */
export function watchMissing(batches: ColumnBatches, asked: ReadonlySet<bigint> | undefined): MissingPets {
  const missing = new Set(asked);
  async function* watched(): AsyncGenerator<ItemColumns> {
    const only = createFilter({ petIds: asked });
    for await (const batch of batches) {
      if (missing.size > 0) {
        const copy = copyOf(batch);
        only(copy);
        for (let index = 0; index < copy.length; index += 1) missing.delete(copy.petIdAt(index));
      }
      yield batch;
    }
  }
  return { petIds: missing, [Symbol.asyncIterator]: watched };
}

/** The ids of a batch in one that may be narrowed. */
function copyOf(batch: ItemColumns): ItemColumns {
  const copy = new ItemColumns(batch.length);
  copy.heads.set(batch.heads.subarray(0, batch.length));
  copy.tails.set(batch.tails.subarray(0, batch.length));
  copy.length = batch.length;
  return copy;
}
