import { expect } from 'vitest';
import { answers } from '../support/scripted-actions.ts';
import type { Action, Exchange } from '../support/scripted-service.ts';
import { errorJson } from '../support/shop.ts';
import { openTill, test } from '../support/till.ts';

test('two backends whose clocks are 4 s apart: no 429, though the one that is ahead answers before each wait', async () => {
  const till = await openTill({ limit: { limit: 21, seconds: 60 } });
  let answered = 0;
  /** Every other one is ahead. */
  const byTurns: Action = (exchange: Exchange) => {
    answered += 1;
    exchange.commit();
    const { petId, quantity } = exchange.change ?? {};
    const date = new Date(till.clock.now() + (answered % 2) * 4000).toUTCString();
    exchange.answer(200, `{"petId":${petId},"quantity":${quantity},"status":"available"}`, { Date: date });
  };
  till.service.always('PATCH', byTurns);
  for (let count = 1; count < 64; count += 1) {
    const result = await till.run(`inventory set 1 ${count} --yes`, { random: () => count / 64 });
    expect(result).toMatchObject({ code: 0 });
  }
  expect(till.service.requests.filter(({ status }) => status === 429)).toEqual([]);
});

test('a 429 with a Retry-After in quotes holds the key for as long, which the next command says', async ({ till }) => {
  till.service.next('PATCH', answers(429, { 'Retry-After': '"120"' }));
  expect((await till.run('inventory set 1 5 --max-wait 1')).code).toBe(6);
  const { code, stderr } = await till.run('inventory set 1 5 --json --max-wait 1');
  expect(code).toBe(6);
  expect(errorJson(stderr).error.retryAfterSeconds).toBeGreaterThanOrEqual(120);
  expect(till.service.seen('PATCH')).toHaveLength(1);
});

test.for([
  ['by our clock, beside a Date that is an hour ahead', 120_000, 3_600_000],
  ['by its own Date, if our clock is an hour ahead', 120_000 - 3_600_000, -3_600_000],
] as const)('a 429 until a date holds the key for 120 s at least: %s', async ([_clock, until, now], { till }) => {
  const dateIn = (ms: number) => new Date(till.clock.now() + ms).toUTCString();
  till.service.next('PATCH', answers(429, { 'Retry-After': dateIn(until), Date: dateIn(now) }));
  expect((await till.run('inventory set 1 5 --max-wait 1')).code).toBe(6);
  till.clock.advance(119_000);
  expect((await till.run('inventory set 1 5 --max-wait 0')).code).toBe(6);
  expect(till.service.seen('PATCH')).toHaveLength(1);
});
