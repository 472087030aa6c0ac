import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { createFilter, type FilterCriteria } from '../../src/inventory/filter.ts';
import { isPetStatus } from '../../src/inventory/items.ts';
import { itemLists, petIds, statuses } from './arbitraries.ts';

const item = { petId: 9007199254740993n, quantity: 5, status: 'available' };

describe('createFilter', () => {
  test.each<[FilterCriteria, boolean]>([
    [{}, true],
    [{ statuses: new Set(['available', 'sold']) }, true],
    [{ statuses: new Set(['sold']) }, false],
    [{ statuses: new Set() }, false],
    [{ petIds: new Set([9007199254740993n]) }, true],
    [{ petIds: new Set([9007199254740992n]) }, false],
    [{ petIds: new Set() }, false],
    [{ minQuantity: 5 }, true],
    [{ minQuantity: 6 }, false],
    [{ maxQuantity: 5 }, true],
    [{ maxQuantity: 0 }, false],
    [{ minQuantity: 0, maxQuantity: 9, statuses: new Set(['available']) }, true],
    [{ minQuantity: undefined, maxQuantity: undefined, statuses: undefined, petIds: undefined }, true],
  ])('%o: %s', (criteria, passes) => expect(createFilter(criteria)(item)).toBe(passes));

  it('is the same as its parts one after the other', () => {
    const sets = fc.record({
      statuses: fc.array(statuses).map((list) => new Set(list)),
      petIds: fc.array(fc.oneof(petIds, fc.bigInt({ min: 0n, max: 5n }))).map((list) => new Set(list)),
      minQuantity: fc.integer({ min: -5, max: 9 }),
      maxQuantity: fc.integer({ min: -5, max: 9 }),
    });
    fc.assert(
      fc.property(sets, itemLists, ({ statuses, petIds, minQuantity, maxQuantity }, list) => {
        const parts = [{ statuses }, { petIds }, { minQuantity }, { maxQuantity }].map(createFilter);
        const stepwise = parts.reduce((left, part) => left.filter(part), list);
        expect(list.filter(createFilter({ statuses, petIds, minQuantity, maxQuantity }))).toEqual(stepwise);
        expect(stepwise.filter(createFilter({ statuses }))).toEqual(stepwise);
      }),
    );
  });
});

test.each([
  ['available', true],
  ['pending', true],
  ['sold', true],
  ['Sold', false],
  ['', false],
])('isPetStatus(%j): %s', (text, expected) => expect(isPetStatus(text)).toBe(expected));
