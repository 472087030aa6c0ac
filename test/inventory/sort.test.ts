import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { isSortKey, itemComparator, sortKeys } from '../../src/inventory/sort.ts';
import { itemLists } from './arbitraries.ts';

const list = [
  { petId: 9007199254740993n, quantity: 5, status: 'sold' },
  { petId: 9007199254740992n, quantity: 10, status: 'odd' },
  { petId: -1n, quantity: 5, status: 'available' },
  { petId: 9223372036854775807n, quantity: -9, status: 'a new one' },
  { petId: 10n, quantity: 0, status: 'pending' },
];

describe('itemComparator', () => {
  test.each([
    ['petId', false, [-1n, 10n, 9007199254740992n, 9007199254740993n, 9223372036854775807n]],
    ['petId', true, [9223372036854775807n, 9007199254740993n, 9007199254740992n, 10n, -1n]],
    ['quantity', false, [9223372036854775807n, 10n, 9007199254740993n, -1n, 9007199254740992n]],
    ['quantity', true, [9007199254740992n, 9007199254740993n, -1n, 10n, 9223372036854775807n]],
    ['status', false, [-1n, 10n, 9007199254740993n, 9223372036854775807n, 9007199254740992n]],
    ['status', true, [9007199254740992n, 9223372036854775807n, 9007199254740993n, 10n, -1n]],
  ] as const)('by %s, descending: %s', (key, descending, ids) => {
    expect(list.toSorted(itemComparator(key, descending)).map(({ petId }) => petId)).toEqual(ids);
  });

  it('keeps every item, orders neighbours, and keeps the order of ties in both directions', () => {
    fc.assert(
      fc.property(itemLists, fc.constantFrom(...sortKeys), fc.boolean(), (items, key, descending) => {
        const compare = itemComparator(key, descending);
        const sorted = items.toSorted(compare);
        expect(new Set(sorted)).toEqual(new Set(items));
        for (const [index, right] of sorted.entries()) {
          const left = sorted[index - 1];
          if (left === undefined) continue;
          expect(compare(left, right)).toBeLessThanOrEqual(0);
          if (left[key] === right[key]) expect(items.indexOf(left)).toBeLessThan(items.indexOf(right));
        }
      }),
    );
  });

  it('is antisymmetric', () => {
    fc.assert(
      fc.property(itemLists, fc.constantFrom(...sortKeys), ([left, right], key) => {
        if (left === undefined || right === undefined) return;
        const compare = itemComparator(key);
        expect(Math.sign(compare(left, right)) + Math.sign(compare(right, left))).toBe(0);
      }),
    );
  });
});

test.each([
  ['petId', true],
  ['petid', false],
  ['', false],
])('isSortKey(%j): %s', (text, expected) => expect(isSortKey(text)).toBe(expected));
