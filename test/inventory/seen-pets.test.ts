import { expect } from 'vitest';
import { ItemColumns, splitPetId } from '../../src/inventory/item-columns.ts';
import { SeenPets, withoutRepeated } from '../../src/inventory/seen-pets.ts';
import fc, { property } from '../support/seeded-fast-check.ts';

const id = fc.bigInt({ min: 0n, max: 40n }).map((small) => small * 2n);
const lists = fc.array(
  fc.array(id, { maxLength: 12 }).map((ids) => ids.sort((a, b) => Number(a - b))),
  { maxLength: 5 },
);

property('takes one step at once, and what comes after it one by one', [lists], { numRuns: 500 }, async (all) => {
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
const any = fc.oneof(
  near,
  near.map((offset) => 2_000_000_000n + offset),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
);
const ids = fc.oneof(
  fc.array(any, { maxLength: 60 }),
  fc.array(near, { maxLength: 40 }).map((all) => all.sort((a, b) => Number(a - b))),
);

property('knows of every id whether it was there before, in any order', [ids], { numRuns: 500 }, (petIds) => {
  const seen = new SeenPets();
  const known = new Set<bigint>();
  for (const petId of petIds) {
    const { head, tail } = splitPetId(petId);
    expect(seen.add(head, tail)).toBe(!known.has(petId));
    known.add(petId);
  }
});
