import { expect, test } from 'vitest';
import { splitPetId } from '../../src/inventory/item-columns.ts';
import { SeenPets } from '../../src/inventory/seen-pets.ts';
import fc from '../support/seeded-fast-check.ts';

test('knows of every id whether it was there before, in whatever order they come', () => {
  const near = fc.bigInt({ min: -6n, max: 12n });
  const id = fc.oneof(
    near,
    near.map((offset) => 2_000_000_000n + offset),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  );
  const ids = fc.oneof(
    fc.array(id, { maxLength: 60 }),
    fc.array(near, { maxLength: 40 }).map((all) => all.sort((a, b) => Number(a - b))),
  );
  fc.assert(
    fc.property(ids, (petIds) => {
      const seen = new SeenPets();
      const known = new Set<bigint>();
      for (const petId of petIds) {
        const { head, tail } = splitPetId(petId);
        expect(seen.add(head, tail)).toBe(!known.has(petId));
        known.add(petId);
      }
    }),
    { numRuns: 500 },
  );
});
