import { describe, expect, test } from 'vitest';
import { createFilter } from '../../src/inventory/filter.ts';
import { ItemColumns } from '../../src/inventory/item-columns.ts';
import { PetIdSet } from '../../src/inventory/pet-id-set.ts';
import { propertyRuns } from '../support/property-runs.ts';
import fc, { property } from '../support/seeded-fast-check.ts';

const runs = propertyRuns(100);
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const quantity = fc.maxSafeInteger().filter((value) => !Object.is(value, -0));

describe('pets in columns', () => {
  /** Ids as shops have them, too: in a row, thousands apart, and with the same last digits. */
  const ids = fc.oneof(
    fc.array(int64, { maxLength: 200, size: 'max' }),
    fc
      .tuple(int64, fc.constantFrom(1n, 2n, 64n, 1000n, 65_536n, 1_000_000n, 1_000_000_000n), fc.nat(300))
      .map(([first, step, count]) =>
        Array.from({ length: count }, (_, index) => BigInt.asIntN(64, first + step * BigInt(index))),
      ),
  );

  property('a set of ids is a Set', [ids, fc.array(int64)], runs, (some, others) => {
    const set = new PetIdSet();
    const model = new Map<bigint, number>();
    const added = [...some, ...some.slice(0, 5)];
    for (const petId of added) if (!model.has(petId)) model.set(petId, model.size);
    expect(added.map((petId) => set.add(petId))).toEqual(added.map((petId) => model.get(petId)));
    expect(set.size).toBe(model.size);
    expect([...set]).toEqual([...model.keys()]);
    const asked = [...some, ...others];
    expect(asked.map((petId) => set.placeOf(petId))).toEqual(asked.map((petId) => model.get(petId) ?? -1));
    expect(asked.filter((petId) => set.has(petId))).toEqual(asked.filter((petId) => model.has(petId)));
  });

  property(
    'a list is narrowed to them',
    [fc.uniqueArray(int64, { maxLength: 60 }), fc.array(fc.tuple(int64, quantity))],
    runs,
    (wanted, others) => {
      const petIds = new PetIdSet(wanted);
      const items = [...wanted.map((petId) => [petId, 1] as const), ...others];
      const list = new ItemColumns();
      for (const [petId, many] of items) list.append({ petId, quantity: many, status: 'sold' });
      createFilter({ petIds })(list);
      expect(list.items().map(({ petId }) => petId)).toEqual(
        items.map(([petId]) => petId).filter((petId) => wanted.includes(petId)),
      );
    },
  );

  // With all of them in a few places of the table, this would take minutes.
  test.each([1n, 64n, 1000n, 65_536n, 1_000_000n, 1_000_000_000n, 2n ** 40n])(
    '100,000 ids that are %i apart are found again, and no others',
    (step) => {
      const set = new PetIdSet();
      for (let index = 0n; index < 100_000n; index += 1n) set.add(5n + index * step);
      let found = 0;
      for (let index = 0n; index < 200_000n; index += 1n) if (set.has(5n + index * step)) found += 1;
      expect([set.size, found, set.has(4n)]).toEqual([100_000, 100_000, false]);
    },
  );
});
