import { expect } from 'vitest';
import { answers } from '../support/scripted-actions.ts';
import type { Action, Exchange } from '../support/scripted-service.ts';
import { tenEach } from '../support/scripted-service.ts';
import { openTill, test } from '../support/till.ts';

test('two backends whose clocks are 4 s apart: no 429, whichever answers', async () => {
  const till = await openTill({ stock: tenEach(60), limit: { limit: 20, seconds: 60 } });
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
  const lines = Array.from({ length: 45 }, (_, index) => `${index + 1},11\n`).join('');
  const result = await till.run(`inventory apply ${till.file('all.csv', `petId,quantity\n${lines}`)} --yes`);
  expect({ code: result.code, refused: till.service.requests.filter(({ status }) => status === 429) }).toEqual({
    ...{ code: 0, refused: [] },
  });
}, 60_000);

test.for(['120.0', '+120', '"120"', '1.2e2'])(
  'a 429 with Retry-After: %s holds the key for 120 s, which the next command says',
  async (retryAfter, { till }) => {
    till.service.next('PATCH', answers(429, { 'Retry-After': retryAfter }));
    expect((await till.run('inventory set 1 5 --max-wait 1')).code).toBe(6);
    const { code, stderr } = await till.run('inventory set 1 5 --json --max-wait 1');
    const { error } = JSON.parse(stderr.trim().split('\n').at(-1) ?? '');
    expect({ code, isLongEnough: error.retryAfterSeconds >= 120 }).toEqual({ code: 6, isLongEnough: true });
    expect(till.service.seen('PATCH')).toHaveLength(1);
  },
);
