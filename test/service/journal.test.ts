import { expect, test } from 'vitest';
import { LocalJournal } from '../../src/service/journal.ts';
import { heldMb } from '../support/held-memory.ts';
import { NOON } from './support.ts';

const long = (length: number) => Buffer.alloc(length, 'a').toString();

test('an entry has what was cut off, and holds no more than that in memory', async () => {
  const journal = new LocalJournal();
  const before = await heldMb();
  for (let count = 0; count < 2_000; count++) {
    const entry = journal.open(NOON, 'PATCH', `/v1/${long(15_000)}`);
    entry.read(long(16_384));
    entry.answered(404);
  }
  expect((await heldMb()) - before).toBeLessThan(20);
  expect(journal.entries()[0]).toEqual({
    time: NOON,
    method: 'PATCH',
    path: `/v1/${long(1_020)}`,
    body: long(1_024),
    status: 404,
  });
});

test('the last 10,000 are kept, in order', () => {
  const journal = new LocalJournal();
  for (let count = 0; count < 25_000; count++) journal.open(count, 'GET', '/v1/inventory').answered(200);
  const times = journal.entries().map(({ time }) => time);
  expect([times.length, times[0], times.at(-1)]).toEqual([10_000, 15_000, 24_999]);
});
