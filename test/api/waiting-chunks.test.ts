import { expect, test } from 'vitest';
import { WaitingChunks } from '../../src/api/body-queue.ts';
import fc from '../support/seeded-fast-check.ts';

const lengths = fc.oneof(fc.integer({ min: 0, max: 100 }), fc.constantFrom(4095, 4096, 65_536, 70_000));

test('the bytes come out as they came in', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(lengths, fc.boolean()), { maxLength: 60 }), (steps) => {
      const waiting = new WaitingChunks();
      const sent: Uint8Array[] = [];
      const taken: Uint8Array[] = [];
      for (const [index, [length, takes]] of steps.entries()) {
        const chunk = new Uint8Array(length).fill(index);
        sent.push(chunk);
        waiting.add(chunk);
        if (takes) taken.push(...waiting.take());
      }
      taken.push(...waiting.take());
      expect(waiting.bytes).toBe(0);
      expect(Buffer.concat(taken).equals(Buffer.concat(sent))).toBe(true);
    }),
  );
});

test('one chunk is not copied, and many small ones are put together', () => {
  const waiting = new WaitingChunks();
  const chunk = new Uint8Array(64);
  waiting.add(chunk);
  expect(waiting.take()).toEqual([chunk]);
  for (let index = 0; index < 2049; index += 1) waiting.add(chunk);
  expect(waiting.take().map(({ length }) => length)).toEqual([64, 65_536, 65_536]);
});
