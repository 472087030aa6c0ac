import { expect, test } from 'vitest';
import { ItemColumns, StatusNames, splitPetId } from '../../src/inventory/item-columns.ts';
import { PetIdSet, SeenPets, withoutRepeated } from '../../src/inventory/pet-id-set.ts';
import { propertyRuns } from '../support/property-runs.ts';
import fc, { property } from '../support/seeded-fast-check.ts';
import { petIds as int64, itemLists } from './arbitraries.ts';
import { columnsOf } from './columns.ts';

const runs = propertyRuns(100);

/** Ids as shops have them, too: in a row, thousands apart, and with the same last digits. */
const ids = fc.oneof(
  fc.array(int64, { maxLength: 200, size: 'max' }),
  fc
    .tuple(int64, fc.constantFrom(1n, 2n, 64n, 1000n, 65_536n, 1_000_000n, 1_000_000_000n), fc.nat(300))
    .map(([first, step, count]) =>
      Array.from({ length: count }, (_, index) => BigInt.asIntN(64, first + step * BigInt(index))),
    ),
);

property('PetIdSet finds the same ids as a Map', [ids, fc.array(int64)], runs, (some, others) => {
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

// If all ids shared a few slots of the table, this would take minutes.
test.each([1n, 64n, 1000n, 65_536n, 1_000_000n, 1_000_000_000n, 2n ** 40n])(
  'finds 100,000 ids that are %i apart, and no others',
  (step) => {
    const set = new PetIdSet();
    for (let index = 0n; index < 100_000n; index += 1n) set.add(5n + index * step);
    let found = 0;
    for (let index = 0n; index < 200_000n; index += 1n) if (set.has(5n + index * step)) found += 1;
    expect([set.size, found, set.has(4n)]).toEqual([100_000, 100_000, false]);
  },
);

property('returns the items that were added', [itemLists, fc.nat(40)], (items, most) => {
  const columns = columnsOf(items);
  expect(columns.items()).toEqual(items);
  expect(columns.items(most)).toEqual(items.slice(0, most));
});

const choices = fc.array(fc.boolean(), { minLength: 30, maxLength: 30 });
property(
  'keeps the order of items after keep and truncate',
  [itemLists, choices, fc.nat(30)],
  (items, passes, most) => {
    const columns = columnsOf(items);
    columns.keep((index) => passes[index] === true);
    const kept = items.filter((_, index) => passes[index]);
    expect(columns.items()).toEqual(kept);
    columns.truncate(most);
    expect(columns.items()).toEqual(kept.slice(0, most));
  },
);

test('numbers statuses in the order in which they appear', () => {
  const names = new StatusNames();
  expect(['sold', '', 'sold', '__proto__'].map((text) => names.codeOf(text))).toEqual([0, 1, 0, 2]);
  expect([0, 1, 2].map((code) => names.textOf(code))).toEqual(['sold', '', '__proto__']);
  expect(names.size).toBe(3);
});

const id = fc.bigInt({ min: 0n, max: 40n }).map((small) => small * 2n);
const sortedLists = fc.array(
  fc.array(id, { maxLength: 12 }).map((ids) => ids.sort((a, b) => Number(a - b))),
  { maxLength: 5 },
);

property('passes each pet on once, and reports the repeated ones', [sortedLists], { numRuns: 500 }, async (all) => {
  const batches = async function* () {
    for (const ids of all) {
      const batch = new ItemColumns(16);
      for (const petId of ids) batch.append({ petId, quantity: 1, status: 'sold' });
      yield batch;
    }
  };
  const [found, repeated]: [bigint[], bigint[]] = [[], []];
  for await (const batch of withoutRepeated(batches(), (petId) => repeated.push(petId))) {
    found.push(...batch.items().map(({ petId }) => petId));
  }
  expect(found).toEqual([...new Set(all.flat())]);
  expect(found.length + repeated.length).toBe(all.flat().length);
});

const near = fc.bigInt({ min: -6n, max: 12n });
const nearOrAny = fc.oneof(
  near,
  near.map((offset) => 2_000_000_000n + offset),
  int64,
);
const anyIds = fc.oneof(
  fc.array(nearOrAny, { maxLength: 60 }),
  fc.array(near, { maxLength: 40 }).map((all) => all.sort((a, b) => Number(a - b))),
);

property('detects whether an id was added before, in any order', [anyIds], { numRuns: 500 }, (petIds) => {
  const seen = new SeenPets();
  const known = new Set<bigint>();
  for (const petId of petIds) {
    const { head, tail } = splitPetId(petId);
    expect(seen.add(head, tail)).toBe(!known.has(petId));
    known.add(petId);
  }
});

test('refuses a list of more than 10,000,000 pets', () => {
  const batch = new ItemColumns(4096);
  batch.length = batch.capacity;
  const gathered = new ItemColumns(0);
  // As if so many had been added.
  gathered.length = 10_000_000 - batch.length;
  gathered.add(batch);
  expect([gathered.length, gathered.capacity]).toEqual([10_000_000, 10_000_000]);
  batch.length = 1;
  expect(() => gathered.add(batch)).toThrow('more than 10,000,000 pets');
});
