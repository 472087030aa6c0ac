import { expect, test } from 'vitest';
import { BodyQueue } from '../../src/api/body-queue.ts';
import fc, { property } from '../support/properties.ts';

const source = { pause: () => {}, resume: () => {} };

test('yields the chunks of a body that arrived before an error, and then throws the error', async () => {
  const queue = new BodyQueue(source);
  queue.push(Buffer.from('{"petId":'));
  queue.fail(new Error('reset'));
  let text = '';
  const read = async () => {
    for await (const chunk of queue) text += Buffer.from(chunk).toString();
  };
  await expect(read()).rejects.toThrow('reset');
  expect(text).toBe('{"petId":');
});

const lengths = fc.oneof(fc.integer({ min: 0, max: 100 }), fc.constantFrom(4095, 65_536, 524_288, 600_000));

property(
  'copies bytes out of a reused buffer, and pauses its source once 1 MiB is unread',
  [fc.array(fc.tuple(lengths, fc.integer({ min: 0, max: 2 })), { maxLength: 40 })],
  async (steps) => {
    let isPaused = false;
    const queue = new BodyQueue({ pause: () => (isPaused = true), resume: () => (isPaused = false) });
    const shared = new Uint8Array(600_000);
    const [sent, read]: [Buffer[], Buffer[]] = [[], []];
    const length = (pieces: readonly Buffer[]) => pieces.reduce((sum, piece) => sum + piece.length, 0);
    const chunks = queue[Symbol.asyncIterator]();
    let waiting: Promise<void> | undefined;
    for (const [index, [size, takes]] of steps.entries()) {
      queue.push(shared.subarray(0, size).fill(index));
      sent.push(Buffer.alloc(size, index));
      // Reads only while something is unread, so that it never waits.
      for (let taken = 0; taken < takes && length(read) < length(sent); taken += 1) {
        waiting ??= chunks.next().then(({ value }) => void read.push(Buffer.from(value)));
        await waiting;
        waiting = undefined;
        expect(isPaused).toBe(false);
      }
      if (length(sent) - length(read) >= 1024 * 1024) expect(isPaused).toBe(true);
    }
    queue.end();
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) read.push(Buffer.from(next.value));
    expect(Buffer.concat(read).equals(Buffer.concat(sent))).toBe(true);
  },
);
