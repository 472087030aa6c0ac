import { compareBy, type FieldName, type InventoryItem } from './item-fields.ts';
import { type ItemBatches, requireRoom } from './items.ts';

export interface SortOptions {
  readonly key: FieldName;
  readonly descending: boolean;
  /** Maximum number of items to yield. The others are dropped early, to save memory. */
  readonly limit?: number | undefined;
}

/** Minimum number of items that are sorted to drop those that can't be among the first. */
const leastDropped = 65_536;
/** Number of items per batch. */
const batchSize = 1000;

/** Sorts items. Items with an equal key keep their order, also in descending order. */
export async function* sortItems(
  batches: ItemBatches,
  { key, descending, limit = Number.POSITIVE_INFINITY }: SortOptions,
): AsyncGenerator<readonly InventoryItem[]> {
  const ascending = compareBy(key);
  const compare: typeof ascending = descending ? (left, right) => ascending(right, left) : ascending;
  const most = Math.max(2 * limit, leastDropped);
  let kept: InventoryItem[] = [];
  for await (const items of batches) {
    for (const item of items) kept.push(item);
    requireRoom(kept.length);
    if (kept.length >= most) kept = kept.sort(compare).slice(0, limit);
  }
  kept.sort(compare);
  for (let at = 0; at < Math.min(kept.length, limit); at += batchSize) {
    yield kept.slice(at, Math.min(at + batchSize, limit));
  }
}
