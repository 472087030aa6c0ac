import { expect, test } from 'vitest';
import { contentHashOf } from '../../src/cli/runs/applied-before.ts';
import fc, { property } from '../support/properties.ts';
import { read } from './reading.ts';

const line = fc.record({
  petId: fc.integer({ min: 1, max: 4 }),
  delta: fc.oneof(fc.constant(undefined), fc.integer({ min: -1000, max: 1000 })),
  ref: fc.constantFrom('', 'box 1', 'box 2', '"Smith, John"'),
});
const lines = fc.array(line, { minLength: 1, maxLength: 12 });

property(
  'adds up the deltas of each pet, in any order of the lines',
  [lines, fc.infiniteStream(fc.nat())],
  async (all, order) => {
    const text = (rows: typeof all) =>
      `petId,delta,ref\n${rows.map(({ petId, delta = '', ref }) => `${petId},${delta},${ref}\n`).join('')}`;
    const shuffled = all.map((row) => [order.next().value, row] as const).toSorted(([one], [other]) => one - other);
    const [file, other] = [await read(text(all)), await read(text(shuffled.map(([, row]) => row)))];
    if (!file.ok || !other.ok) throw new Error('refused');
    const sums = new Map<bigint, number>();
    for (const { petId, delta = 0 } of all) sums.set(BigInt(petId), (sums.get(BigInt(petId)) ?? 0) + delta);
    expect(new Map(file.changes.map(({ petId, delta = 0 }) => [petId, delta]))).toEqual(sums);
    for (const { petId, lines, deltas } of file.addedUp) {
      expect(lines.length).toBe(deltas.length);
      expect(deltas.reduce((sum, delta) => sum + delta, 0)).toBe(sums.get(petId));
    }
    expect(contentHashOf(other.changes)).toBe(contentHashOf(file.changes));
    expect(file.rowCount).toBe(all.length);
  },
);

test('adds up no quantity that follows a delta of its pet', async () => {
  const file = await read('petId,quantity,delta\n1,,2\n1,5,\n');
  expect(file).toMatchObject({ ok: false, problems: [{ line: 3, message: 'pet 1 is already on line 2' }] });
});
