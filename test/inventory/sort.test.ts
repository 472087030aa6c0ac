import { expect, test } from 'vitest';
import { type FieldName, fieldNames } from '../../src/inventory/item-fields.ts';
import type { InventoryItem } from '../../src/inventory/items.ts';
import { sortItems } from '../../src/inventory/sort.ts';
import { compareStatuses } from '../../src/inventory/statuses.ts';
import fc, { property } from '../support/properties.ts';
import { itemLists } from './arbitraries.ts';
import { batchesOf, itemsOf } from './batches.ts';

const list = [
  { petId: 9007199254740993n, quantity: 5, status: 'sold' },
  { petId: 9007199254740992n, quantity: 10, status: 'odd' },
  { petId: -1n, quantity: 5, status: 'available' },
  { petId: 9223372036854775807n, quantity: -9, status: 'a new one' },
  { petId: 10n, quantity: 0, status: 'pending' },
];

/** Returns the items in the expected order. */
function plainly(items: readonly InventoryItem[], key: FieldName, descending: boolean): InventoryItem[] {
  const compare = (left: InventoryItem, right: InventoryItem): number =>
    key === 'status'
      ? compareStatuses(left.status, right.status)
      : (left[key] ?? '') < (right[key] ?? '')
        ? -1
        : Number((left[key] ?? '') > (right[key] ?? ''));
  return items.toSorted((left, right) => (descending ? compare(right, left) : compare(left, right)));
}

test.each([
  ['status', false, [-1n, 10n, 9007199254740993n, 9223372036854775807n, 9007199254740992n]],
  ['status', true, [9007199254740992n, 9223372036854775807n, 9007199254740993n, 10n, -1n]],
] as const)('sorts by %s (descending: %s)', async (key, descending, ids) => {
  const sorted = await itemsOf(sortItems(batchesOf(list, 2), { key, descending }));
  expect(sorted.map(({ petId }) => petId)).toEqual(ids);
});

const options = fc.record({
  key: fc.constantFrom(...fieldNames),
  descending: fc.boolean(),
  limit: fc.option(fc.nat(35), { nil: undefined }),
});

property(
  'sorts stably, and truncates to a limit',
  [itemLists, options, fc.integer({ min: 1, max: 8 })],
  async (items, sort, size) => {
    const sorted = await itemsOf(sortItems(batchesOf(items, size), sort));
    expect(sorted).toEqual(plainly(items, sort.key, sort.descending).slice(0, sort.limit));
  },
);

test.each(['none', 3] as const)('sorts many items (limit: %s)', async (given) => {
  const limit = given === 'none' ? undefined : given;
  const items = Array.from({ length: 70_000 }, (_, index) => ({
    petId: BigInt(index),
    quantity: Math.imul(index, 2_654_435_761) % 1000,
    status: `s${index % 3000}`,
  })).map((item) => ({ ...item, quantity: item.quantity + 0 }));
  for (const key of ['quantity', 'status'] as const) {
    const sorted = await itemsOf(sortItems(batchesOf(items, 4096), { key, descending: true, limit }));
    // Compares the ids as one text, because comparing so many values one by one takes seconds.
    const ids = (some: readonly InventoryItem[]) => some.map(({ petId }) => petId).join();
    expect(ids(sorted) === ids(plainly(items, key, true).slice(0, limit))).toBe(true);
  }
});
