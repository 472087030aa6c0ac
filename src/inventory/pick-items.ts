import { FailureError } from '../shared/errors.ts';
import { createFilter } from './filter.ts';
import type { ItemColumns } from './item-columns.ts';
import type { InventoryItem } from './items.ts';
import { PetIdSet, type PetIds } from './pet-id-set.ts';

/**
 * Goes through the items of some pets in a list, to its end.
 * @throws FailureError where the list has one of them twice: it can't be said which of the two is its stock
 */
export async function eachPicked(
  batches: AsyncIterable<ItemColumns>,
  petIds: PetIds,
  onItem: (item: InventoryItem) => void,
): Promise<void> {
  const wanted = petIds instanceof PetIdSet ? petIds : new PetIdSet(petIds);
  const only = createFilter({ petIds: wanted });
  const seen = new Uint8Array(wanted.size);
  let repeated: bigint | undefined;
  for await (const batch of batches) {
    only(batch);
    for (let index = 0; index < batch.length; index += 1) {
      const item = batch.itemAt(index);
      const place = wanted.placeOf(item.petId);
      if (seen[place] === 1) repeated ??= item.petId;
      seen[place] = 1;
      onItem(item);
    }
  }
  if (repeated === undefined) return;
  throw new FailureError(`The list of the service makes no sense: pet ${repeated} is in it twice`);
}
