import { FailureError } from '../shared/errors.ts';
import { createFilter } from './filter.ts';
import type { ItemColumns } from './item-columns.ts';
import type { InventoryItem } from './items.ts';

/**
 * Goes through the items of some pets in a list, to its end.
 * @throws FailureError where the list has one of them twice: it can't be said which of the two is its stock
 */
export async function eachPicked(
  batches: AsyncIterable<ItemColumns>,
  petIds: ReadonlySet<bigint>,
  onItem: (item: InventoryItem) => void,
): Promise<void> {
  const only = createFilter({ petIds });
  const seen = new Set<bigint>();
  let repeated: bigint | undefined;
  for await (const batch of batches) {
    only(batch);
    for (const item of batch.items()) {
      if (seen.has(item.petId)) repeated ??= item.petId;
      seen.add(item.petId);
      onItem(item);
    }
  }
  if (repeated === undefined) return;
  throw new FailureError(`The list of the service makes no sense: pet ${repeated} is in it twice`);
}
