import type { InventoryItem } from '../../src/inventory/items.ts';
import fc from '../support/properties.ts';

export const petIds = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
export const statuses = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('available', 'pending', 'sold') },
  fc.constantFrom('reserved', '', '__proto__', 'total'),
  fc.string(),
);

/** Items that are often equal in one field, so that ties are common. */
export const items: fc.Arbitrary<InventoryItem> = fc.record({
  petId: fc.oneof(fc.bigInt({ min: 0n, max: 5n }), petIds),
  quantity: fc.oneof(
    fc.integer({ min: -2, max: 9 }),
    fc.maxSafeInteger(),
    fc.bigInt({ min: 2n ** 53n, max: 2n ** 54n }),
  ),
  status: statuses,
});

export const itemLists = fc.array(items, { maxLength: 30 });
