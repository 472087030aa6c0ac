import { expect, test } from 'vitest';
import { BodyQueue } from '../../src/api/body-queue.ts';
import fc from '../support/seeded-fast-check.ts';

const source = { pause: () => {}, resume: () => {} };

test('a body is taken as a whole once it has ended, and not before', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 5000 }), { maxLength: 40 }), (chunks) => {
      const queue = new BodyQueue(source);
      for (const chunk of chunks) {
        queue.push(chunk);
        expect(queue.takeWhole()).toBeUndefined();
      }
      queue.end();
      expect(Buffer.concat(chunks).equals(queue.takeWhole() ?? Buffer.from('nothing'))).toBe(true);
    }),
  );
});

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
