import { expect } from 'vitest';
import { type Counted, Tally } from '../../../src/inventory/count/tally.ts';
import fc, { property } from '../../support/seeded-fast-check.ts';

const what = fc.constantFrom<Counted>(4n, 42n, 9223372036854775807n, '42', '007');
const step = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), what, units: fc.integer({ min: 1, max: 9 }) }),
  fc.record({ kind: fc.constant('set' as const), what, units: fc.integer({ min: 0, max: 9 }) }),
  fc.record({ kind: fc.constant('back' as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

property('a tally is what the steps come to that were not taken back', [fc.array(step)], (steps) => {
  const tally = new Tally();
  const kept: Exclude<Step, { kind: 'back' }>[] = [];
  for (const one of steps) {
    if (one.kind === 'back') expect(tally.takeBack() === undefined).toBe(kept.pop() === undefined);
    else {
      tally[one.kind](one.what, one.units);
      kept.push(one);
    }
  }
  const expected = new Map<Counted, number>();
  for (const { kind, what: counted, units } of kept) {
    expected.set(counted, kind === 'set' ? units : (expected.get(counted) ?? 0) + units);
  }
  const pets = [...expected].filter(([key]) => typeof key === 'bigint');
  const unknown = [...expected].filter(([key, units]) => typeof key === 'string' && units > 0);
  expect(new Map(tally.counts())).toEqual(new Map(pets));
  expect(new Map(tally.unknowns())).toEqual(new Map(unknown));
  const sum = (entries: readonly (readonly [Counted, number])[]) => entries.reduce((all, [, units]) => all + units, 0);
  expect(tally).toMatchObject({
    units: sum(pets),
    pets: pets.length,
    unknownUnits: sum(unknown),
    scans: kept.length,
  });
});
