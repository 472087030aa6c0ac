import { expect, test } from 'vitest';
import { BodyQueue, WaitingChunks } from '../../src/api/body-queue.ts';
import fc, { property } from '../support/seeded-fast-check.ts';

const source = { pause: () => {}, resume: () => {} };

property(
  'a body is whole once it ended',
  [fc.array(fc.uint8Array({ maxLength: 5000 }), { maxLength: 40 })],
  (chunks) => {
    const queue = new BodyQueue(source);
    for (const chunk of chunks) {
      queue.push(chunk);
      expect(queue.takeWhole()).toBeUndefined();
    }
    queue.end();
    expect(Buffer.concat(chunks).equals(queue.takeWhole() ?? Buffer.from('nothing'))).toBe(true);
  },
);

test('one that breaks off is never whole: its reader gets what has come, and the error', async () => {
  const queue = new BodyQueue(source);
  queue.push(Buffer.from('{"petId":'));
  queue.fail(new Error('reset'));
  expect(queue.takeWhole()).toBeUndefined();
  let text = '';
  const read = async () => {
    for await (const chunk of queue) text += Buffer.from(chunk).toString();
  };
  await expect(read()).rejects.toThrow('reset');
  expect(text).toBe('{"petId":');
});

const lengths = fc.oneof(fc.integer({ min: 0, max: 100 }), fc.constantFrom(4095, 4096, 65_536, 70_000));

property('bytes come out as they came in', [fc.array(fc.tuple(lengths, fc.boolean()), { maxLength: 60 })], (steps) => {
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
});

test('one chunk is not copied, and many small ones are put together', () => {
  const waiting = new WaitingChunks();
  const chunk = new Uint8Array(64);
  waiting.add(chunk);
  expect(waiting.take()).toEqual([chunk]);
  for (let index = 0; index < 2049; index += 1) waiting.add(chunk);
  expect(waiting.take().map(({ length }) => length)).toEqual([64, 65_536, 65_536]);
});
