import { expect } from 'vitest';
import { NOON, outcome, outcomes, rate, start, test } from './support.ts';

type Options = Parameters<typeof start>[0];

/** Uses up the limit of one request a minute, is refused once, and waits until the grace period is over. */
async function afterTheGrace(options: Options = {}) {
  const service = await start({ limits: { minute: 1, day: 1000 }, ...options });
  expect(await outcomes(service, 2)).toEqual(['200', '429 rate_limited']);
  service.clock.advance(1_001);
  return service;
}
const strict: Options = { ban: { strikes: 0, seconds: 300 } };
const refused = (count: number) => Array<string>(count).fill('429 rate_limited');

test('bans a key for 300 s after more than ten refusals beyond the grace period', async () => {
  const service = await afterTheGrace();
  expect(await outcomes(service, 10)).toEqual(refused(10));
  const banned = await service.get('/inventory');
  expect(banned.json).toEqual({ code: 'key_banned', message: expect.any(String), status: 429 });
  expect(banned.headers['retry-after']).toBe('300');
  expect(rate(banned)).toBe(`1/0/${(NOON + 60_000) / 1000}`);
});

test('counts no strike for requests refused within a second of the first refusal', async () => {
  const service = await afterTheGrace();
  service.clock.advance(-1);
  expect(await outcomes(service, 100)).toEqual(refused(100));
});

test('resets strikes a minute after the first refusal', async () => {
  const service = await afterTheGrace();
  await outcomes(service, 10);
  service.clock.set(NOON + 60_000);
  expect(await outcomes(service, 2)).toEqual(['200', '429 rate_limited']);
  service.clock.advance(1_001);
  expect(await outcomes(service, 11)).toEqual([...refused(10), '429 key_banned']);
});

test('ends a ban after exactly 300 s, even if the key is used meanwhile, and resets its strikes', async () => {
  const service = await afterTheGrace(strict);
  expect(await outcomes(service, 1)).toEqual(['429 key_banned']);
  service.clock.advance(299_999);
  const last = await service.get('/inventory');
  expect([outcome(last), last.headers['retry-after'], rate(last).slice(0, 4)]).toEqual(['429 key_banned', '1', '1/1/']);
  service.clock.advance(1);
  expect(await outcomes(service, 3)).toEqual(['200', ...refused(2)]);
});

test('bans only one key, and keeps the ban after a restart', async ({ file }) => {
  const service = await afterTheGrace({ ...strict, file });
  await outcomes(service, 1);
  await service.close();
  const again = await start({ file, key: service.key, clock: service.clock });
  expect(await outcomes(again, 1)).toEqual(['429 key_banned']);
  expect(await outcomes(await start({ file, clock: service.clock }), 1)).toEqual(['200']);
  service.clock.advance(60_000);
  expect(await outcomes(await start({ file, key: service.key, clock: service.clock, ban: false }), 1)).toEqual(['200']);
});

test('refuses requests with --no-ban without banning the key', async () => {
  expect(await outcomes(await afterTheGrace({ ban: false }), 50)).toEqual(refused(50));
});
