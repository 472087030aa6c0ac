import { describe, expect, test } from 'vitest';
import {
  type BulkRow,
  type Change,
  countRows,
  countWhere,
  firstRows,
  rowResults,
  rowsWhere,
} from '../../src/inventory/change.ts';
import { ChangeColumns } from '../../src/inventory/change-columns.ts';
import { createFilter } from '../../src/inventory/filter.ts';
import { ItemColumns } from '../../src/inventory/item-columns.ts';
import { PetIdSet } from '../../src/inventory/pet-id-set.ts';
import { PetQuantities } from '../../src/inventory/pet-quantities.ts';
import { RowColumns } from '../../src/inventory/row-columns.ts';
import { propertyRuns } from '../support/property-runs.ts';
import fc from '../support/seeded-fast-check.ts';

const runs = propertyRuns(100);
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const quantity = fc.maxSafeInteger().filter((value) => !Object.is(value, -0));
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const text = maybe(fc.constantFrom('', 'count', 'the moved shelf', '\ud800'));
const line = fc.integer({ min: 1, max: 10_000_000 });
const error = fc.record({ code: fc.string(), message: fc.string() });
const outcome = {
  result: fc.constantFrom(...rowResults),
  quantity: maybe(quantity),
  error: fc.option(error, { nil: undefined, freq: 1 }),
};
/** Of a file some columns are blank throughout. */
const blankOr = <T>(value: fc.Arbitrary<T>, isBlank: boolean) => (isBlank ? fc.constant(undefined) : value);
const row = (blank: boolean): fc.Arbitrary<BulkRow> =>
  fc.record({
    line,
    petId: int64,
    before: maybe(quantity),
    after: maybe(quantity),
    delta: blankOr(maybe(quantity), blank),
    expected: blankOr(maybe(quantity), blank),
    ...outcome,
    reason: blankOr(text, blank),
    ref: text,
  });
const rows = fc.boolean().chain((blank) => fc.array(row(blank), { maxLength: 200, size: 'max' }));

describe('rows in columns', () => {
  test('are the rows that were put there, and become what they are settled as', () => {
    fc.assert(
      fc.property(rows, fc.array(fc.tuple(fc.nat(), fc.record(outcome))), (all, settlements) => {
        const columns = new RowColumns();
        for (const one of all) columns.push(one);
        const expected = [...all];
        for (const [at, settlement] of all.length === 0 ? [] : settlements) {
          const index = at % all.length;
          columns.settle(index, settlement);
          expected[index] = { ...(expected[index] as BulkRow), ...settlement };
        }
        expect(columns.length).toBe(expected.length);
        expect([...columns]).toEqual(expected);
        expect(countRows(columns)).toEqual(countRows(expected));
        const isConflict = ({ result }: BulkRow) => result === 'conflict';
        const conflicts = rowsWhere(columns, isConflict);
        expect([...conflicts]).toEqual(expected.filter(isConflict));
        expect([conflicts.length, countWhere(columns, isConflict)]).toEqual(Array(2).fill([...conflicts].length));
        expect(firstRows(conflicts, 3)).toEqual(expected.filter(isConflict).slice(0, 3));
      }),
      runs,
    );
  });

  test('so are changes', () => {
    const change = (blank: boolean): fc.Arbitrary<Change> =>
      fc.record({
        line,
        petId: int64,
        quantity: maybe(quantity),
        delta: blankOr(maybe(quantity), blank),
        expected: blankOr(maybe(quantity), blank),
        reason: text,
        ref: blankOr(text, blank),
      });
    const changes = fc.boolean().chain((blank) => fc.array(change(blank), { maxLength: 100, size: 'max' }));
    fc.assert(
      fc.property(changes, (all) => {
        const columns = new ChangeColumns();
        for (const one of all) columns.push(one);
        expect(columns.length).toBe(all.length);
        expect([...columns]).toEqual(all);
      }),
      runs,
    );
  });
});

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

  test('a set of ids is a Set', () => {
    fc.assert(
      fc.property(ids, fc.array(int64), (some, others) => {
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
      }),
      runs,
    );
  });

  test('the stock of them is a Map, and a list is narrowed to them', () => {
    fc.assert(
      fc.property(fc.uniqueArray(int64, { maxLength: 60 }), fc.array(fc.tuple(int64, quantity)), (wanted, others) => {
        const petIds = new PetIdSet(wanted);
        const quantities = new PetQuantities(petIds);
        const model = new Map<bigint, number>();
        for (const [index, petId] of wanted.entries()) {
          if (index % 3 === 0) continue;
          quantities.set(petId, index);
          model.set(petId, index);
        }
        expect([...quantities.keys()]).toEqual([...model.keys()]);
        const asked = [...wanted, ...others.map(([other]) => other)];
        expect(asked.map((petId) => quantities.get(petId))).toEqual(asked.map((petId) => model.get(petId)));
        expect(asked.filter((petId) => quantities.has(petId))).toEqual(asked.filter((petId) => model.has(petId)));
        const items = [...wanted.map((petId) => [petId, 1] as const), ...others];
        const list = new ItemColumns();
        for (const [petId, many] of items) list.append({ petId, quantity: many, status: 'sold' });
        createFilter({ petIds })(list);
        expect(list.items().map(({ petId }) => petId)).toEqual(
          items.map(([petId]) => petId).filter((petId) => wanted.includes(petId)),
        );
      }),
      runs,
    );
  });

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
