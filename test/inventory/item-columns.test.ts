import { describe, expect, test } from 'vitest';
import { ItemColumns, StatusNames } from '../../src/inventory/item-columns.ts';
import fc from '../support/seeded-fast-check.ts';
import { itemLists, petIds } from './arbitraries.ts';
import { columnsOf } from './columns.ts';

describe('a pet id in two numbers', () => {
  test.each([
    0n,
    -1n,
    999_999_999n,
    1_000_000_000n,
    -1_000_000_001n,
    9_007_199_254_740_993n,
    2n ** 63n - 1n,
    -(2n ** 63n),
  ])('%s comes back', (petId) => {
    expect(columnsOf([{ petId, quantity: 1, status: 'sold' }]).petIdAt(0)).toBe(petId);
  });

  test('compares as the id does', () => {
    fc.assert(
      fc.property(petIds, petIds, (left, right) => {
        const { heads, tails } = columnsOf([left, right].map((petId) => ({ petId, quantity: 0, status: '' })));
        const order = (heads[0] ?? 0) - (heads[1] ?? 0) || (tails[0] ?? 0) - (tails[1] ?? 0);
        expect(Math.sign(order)).toBe(left < right ? -1 : left > right ? 1 : 0);
      }),
    );
  });
});

test('items come back as they were', () => {
  fc.assert(
    fc.property(itemLists, fc.nat(40), (items, most) => {
      const columns = columnsOf(items);
      expect(columns.items()).toEqual(items);
      expect(columns.items(most)).toEqual(items.slice(0, most));
    }),
  );
});

test('keep and truncate leave the others in their order', () => {
  fc.assert(
    fc.property(
      itemLists,
      fc.array(fc.boolean(), { minLength: 30, maxLength: 30 }),
      fc.nat(30),
      (items, passes, most) => {
        const columns = columnsOf(items);
        columns.keep((index) => passes[index] === true);
        const kept = items.filter((_, index) => passes[index]);
        expect(columns.items()).toEqual(kept);
        columns.truncate(most);
        expect(columns.items()).toEqual(kept.slice(0, most));
      },
    ),
  );
});

test('a batch is empty at first', () => {
  expect(new ItemColumns(3)).toMatchObject({ length: 0, capacity: 3 });
});

test('statuses are numbered as they appear', () => {
  const names = new StatusNames();
  expect(['sold', '', 'sold', '__proto__'].map((text) => names.codeOf(text))).toEqual([0, 1, 0, 2]);
  expect([0, 1, 2].map((code) => names.textOf(code))).toEqual(['sold', '', '__proto__']);
  expect(names.size).toBe(3);
});
