import { FailureError } from '../shared/errors.ts';
import type { ColumnBatches, ItemColumns } from './item-columns.ts';
import { type InventoryItem, isLow, type LowLevels, type UnreadableItem } from './items.ts';

/** Conditions on an item. An absent property accepts everything; an empty set accepts nothing. */
export interface FilterCriteria {
  readonly statuses?: ReadonlySet<string> | undefined;
  readonly petIds?: ReadonlySet<bigint> | undefined;
  readonly minQuantity?: number | undefined;
  readonly maxQuantity?: number | undefined;
  readonly low?: LowLevels | undefined;
}

/** Returns a function that keeps only the items of a batch that meet all conditions. */
export function createFilter({
  statuses,
  petIds,
  minQuantity,
  maxQuantity,
  low,
}: FilterCriteria): (batch: ItemColumns) => void {
  const [least, most] = [minQuantity ?? Number.NEGATIVE_INFINITY, maxQuantity ?? Number.POSITIVE_INFINITY];
  let highest = low?.standard ?? 0;
  for (const level of low?.own?.values() ?? []) highest = Math.max(highest, level);
  return (batch) => {
    const { quantities, statusCodes, statuses: names } = batch;
    if (minQuantity !== undefined || maxQuantity !== undefined) {
      batch.keep((index) => (quantities[index] ?? 0) >= least && (quantities[index] ?? 0) <= most);
    }
    if (statuses !== undefined) {
      const passes = Array.from({ length: names.size }, (_, code) => statuses.has(names.textOf(code)));
      batch.keep((index) => passes[statusCodes[index] ?? 0] === true);
    }
    if (low !== undefined) {
      // The number is checked first, because creating an object for each item of a long list would take longer than
      // everything else.
      batch.keep((index) => (quantities[index] ?? 0) <= highest && isLow(batch.itemAt(index), low));
    }
    if (petIds !== undefined) batch.keep((index) => petIds.has(batch.petIdAt(index)));
  };
}

/** Yields the batches with only those items that meet all criteria. Leaves out empty batches. */
export async function* filtered(
  batches: ColumnBatches,
  criteria: readonly FilterCriteria[],
): AsyncGenerator<ItemColumns> {
  const filters = criteria.map(createFilter);
  for await (const batch of batches) {
    for (const filter of filters) filter(batch);
    if (batch.length > 0) yield batch;
  }
}

/**
 * Yields the first `limit` items.
 * @param toTheEnd whether to read the list to its end anyway
 */
export async function* firstItems(
  batches: ColumnBatches,
  limit: number,
  { toTheEnd }: { readonly toTheEnd: boolean },
): AsyncGenerator<ItemColumns> {
  let left = limit;
  for await (const batch of batches) {
    batch.truncate(left);
    left -= batch.length;
    if (batch.length > 0) yield batch;
    if (left <= 0 && !toTheEnd) return;
  }
}

/** Removes the pets of the batches from `missing`, and yields the batches unchanged. */
export async function* removeFound(batches: ColumnBatches, missing: Set<bigint>): AsyncGenerator<ItemColumns> {
  for await (const batch of batches) {
    for (let index = 0; missing.size > 0 && index < batch.length; index += 1) missing.delete(batch.petIdAt(index));
    yield batch;
  }
}

/** Reports whether a pet with an unreadable stock may meet the criteria, judged by the nearest number. */
export function mayMeet(
  { statuses, petIds, minQuantity, maxQuantity, low }: FilterCriteria,
  { petId, status, nearest }: UnreadableItem,
): boolean {
  if (low !== undefined && !isLow({ petId, status, quantity: nearest }, low)) return false;
  if (minQuantity !== undefined && nearest < minQuantity) return false;
  if (maxQuantity !== undefined && nearest > maxQuantity) return false;
  return (statuses === undefined || statuses.has(status)) && (petIds === undefined || petIds.has(petId));
}

/**
 * Calls `onItem` for the items of some pets in a list, and reads the list to its end.
 * @throws FailureError if the list contains one of these pets twice, because it is not known which item has its stock
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
    for (let index = 0; index < batch.length; index += 1) {
      const item = batch.itemAt(index);
      if (seen.has(item.petId)) repeated ??= item.petId;
      seen.add(item.petId);
      onItem(item);
    }
  }
  if (repeated === undefined) return;
  throw new FailureError(`The service returned an invalid list: pet ${repeated} appears twice`);
}
