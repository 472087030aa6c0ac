import type { InventoryItem } from './items.ts';

/** What an item must meet. A part that is absent admits everything; an empty set admits nothing. */
export interface FilterCriteria {
  readonly statuses?: ReadonlySet<string> | undefined;
  readonly petIds?: ReadonlySet<bigint> | undefined;
  /** The smallest quantity that passes. */
  readonly minQuantity?: number | undefined;
  /** The largest quantity that passes. */
  readonly maxQuantity?: number | undefined;
}

export type ItemFilter = (item: InventoryItem) => boolean;

/** A predicate that admits the items which meet every part that is present. */
export function createFilter(criteria: FilterCriteria): ItemFilter {
  const { statuses, petIds, minQuantity, maxQuantity } = criteria;
  return (item) =>
    (minQuantity === undefined || item.quantity >= minQuantity) &&
    (maxQuantity === undefined || item.quantity <= maxQuantity) &&
    (statuses === undefined || statuses.has(item.status)) &&
    (petIds === undefined || petIds.has(item.petId));
}
