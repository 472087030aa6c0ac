import { expect } from 'vitest';
import { ItemColumns } from '../../src/inventory/item-columns.ts';
import { SeenPets, withoutRepeated } from '../../src/inventory/seen-pets.ts';
import fc, { property } from '../support/seeded-fast-check.ts';
import { petIds as int64 } from './arbitraries.ts';

const id = fc.bigInt({ min: 0n, max: 40n }).map((small) => small * 2n);
const sortedLists = fc.array(
  fc.array(id, { maxLength: 12 }).map((ids) => ids.sort((a, b) => Number(a - b))),
  { maxLength: 5 },
);

property('passes each pet on once, and reports the repeated pets', [sortedLists], { numRuns: 500 }, async (all) => {
  const batches = async function* () {
    for (const ids of all) {
      const batch = new ItemColumns(16);
      for (const petId of ids) batch.append(petId, 1, 'sold');
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
    expect(seen.add(petId)).toBe(!known.has(petId));
    known.add(petId);
  }
});
