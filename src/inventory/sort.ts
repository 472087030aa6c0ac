import { type InventoryItem, petStatuses } from './items.ts';

export const sortKeys = ['petId', 'quantity', 'status'] as const;
export type SortKey = (typeof sortKeys)[number];

export function isSortKey(text: string): text is SortKey {
  return (sortKeys as readonly string[]).includes(text);
}

export type ItemComparator = (left: InventoryItem, right: InventoryItem) => number;

const comparators: Readonly<Record<SortKey, ItemComparator>> = {
  petId: (left, right) => (left.petId < right.petId ? -1 : left.petId > right.petId ? 1 : 0),
  quantity: (left, right) => (left.quantity < right.quantity ? -1 : left.quantity > right.quantity ? 1 : 0),
  status: (left, right) => compareStatuses(left.status, right.status),
};

/**
 * A comparator for `Array.prototype.sort`, which is stable: items that are equal by the key keep their order,
 * in descending order too.
 */
export function itemComparator(key: SortKey, descending = false): ItemComparator {
  const compare = comparators[key];
  return descending ? (left, right) => compare(right, left) : compare;
}

/** Available, pending, sold; then unknown statuses by their code units, whatever the locale. */
export function compareStatuses(left: string, right: string): number {
  if (left === right) return 0;
  return statusRank(left) - statusRank(right) || (left < right ? -1 : 1);
}

const ranks: ReadonlyMap<string, number> = new Map(petStatuses.map((status, rank) => [status, rank]));

function statusRank(status: string): number {
  return ranks.get(status) ?? petStatuses.length;
}
