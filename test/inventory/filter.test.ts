import { expect, test } from 'vitest';
import { type FilterCriteria, meets } from '../../src/inventory/filter.ts';
import type { InventoryItem } from '../../src/inventory/items.ts';
import fc, { property } from '../support/properties.ts';
import { itemLists, petIds, statuses } from './arbitraries.ts';

const item = { petId: 9007199254740993n, quantity: 5, status: 'available' };

function filtered(items: readonly InventoryItem[], criteria: FilterCriteria): InventoryItem[] {
  return items.filter((item) => meets(item, criteria));
}

test.each<FilterCriteria>([
  { texts: { status: new Set() } },
  // These ids end with the same nine digits as the item's.
  { petIds: new Set([254740993n, 8007199254740993n]) },
  { petIds: new Set() },
])('does not match an item with the filter %o', (criteria) => expect(filtered([item], criteria)).toEqual([]));

const sets = fc.record({
  texts: fc.option(
    fc.array(statuses).map((list) => ({ status: new Set(list) })),
    { nil: undefined },
  ),
  petIds: fc.option(
    fc.array(fc.oneof(petIds, fc.bigInt({ min: 0n, max: 5n }))).map((list) => new Set(list)),
    { nil: undefined },
  ),
  minQuantity: fc.option(fc.integer({ min: -5, max: 9 }), { nil: undefined }),
  maxQuantity: fc.option(fc.integer({ min: -5, max: 9 }), { nil: undefined }),
});

property('keeps exactly the items that meet every criterion', [sets, itemLists], (criteria, list) => {
  const expected = list.filter(
    ({ petId, quantity, status }) =>
      (criteria.petIds?.has(petId) ?? true) &&
      (criteria.texts?.status.has(status) ?? true) &&
      quantity >= (criteria.minQuantity ?? Number.NEGATIVE_INFINITY) &&
      quantity <= (criteria.maxQuantity ?? Number.POSITIVE_INFINITY),
  );
  expect(filtered(list, criteria)).toEqual(expected);
});
