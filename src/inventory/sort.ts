import type { InventoryItem } from './item-fields.ts';
import { compareIds, type ItemBatches, petStatuses, requireRoom } from './items.ts';

export const sortKeys = ['petId', 'quantity', 'status'] as const;
export type SortKey = (typeof sortKeys)[number];

export interface SortOptions {
  readonly key: SortKey;
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
  const ascending = comparators[key];
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

const comparators: Readonly<Record<SortKey, (left: InventoryItem, right: InventoryItem) => number>> = {
  petId: (left, right) => compareIds(left.petId, right.petId),
  // Even if the difference of safe integers is not exact, its sign is.
  quantity: (left, right) => left.quantity - right.quantity,
  status: (left, right) => compareStatuses(left.status, right.status),
};

/** Orders available, pending, sold, then unknown statuses by their code units, whatever the locale. */
export function compareStatuses(left: string, right: string): number {
  if (left === right) return 0;
  return statusRank(left) - statusRank(right) || (left < right ? -1 : 1);
}

const knownRanks: ReadonlyMap<string, number> = new Map(petStatuses.map((status, rank) => [status, rank]));

function statusRank(status: string): number {
  return knownRanks.get(status) ?? petStatuses.length;
}
