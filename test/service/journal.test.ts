import { expect, test } from 'vitest';
import { beginningOf, Journal } from '../../src/service/journal.ts';
import { heldMb } from '../support/held-memory.ts';
import { NOON } from './support.ts';

const long = (length: number) => Buffer.alloc(length, 'a').toString();

test('keeps the beginning of a long body, and no more of it in memory', async () => {
  const journal = new Journal(true);
  const before = await heldMb();
  for (let count = 0; count < 2_000; count++) {
    journal.open(NOON, 'PATCH', '/v1/inventory/1').body = beginningOf(long(16_384));
  }
  expect((await heldMb()) - before).toBeLessThan(20);
  expect(journal.entries()[0]).toMatchObject({ body: long(1_024), status: null });
});

test('keeps the last 10,000 in order, or none', () => {
  const [journal, none] = [new Journal(true), new Journal(false)];
  for (let count = 0; count < 25_000; count++) {
    for (const one of [journal, none]) one.open(count, 'GET', '/v1/inventory').status = 200;
  }
  const times = journal.entries().map(({ time }) => time);
  expect([times.length, times[0], times.at(-1)]).toEqual([10_000, 15_000, 24_999]);
  expect(none.entries()).toEqual([]);
});
