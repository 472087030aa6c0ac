import { expect, test } from 'vitest';
import { NOON, outcomes, rate, start } from './support.ts';

const seconds = (time: number) => time / 1000;
const MIDNIGHT = NOON + 12 * 3_600_000;

test('sends limit, remaining and reset with every response, whatever its status', async () => {
  const service = await start({ plan: 'free' });
  const reset = seconds(NOON + 60_000);
  expect(rate(await service.get('/inventory'))).toBe(`60/59/${reset}`);
  expect(rate(await service.get('/nowhere'))).toBe(`60/58/${reset}`);
  expect(rate(await service.patch('/inventory/1', 'x'))).toBe(`60/57/${reset}`);
  expect(rate(await service.call('POST', '/inventory'))).toBe(`60/56/${reset}`);
  expect(rate(await service.call('OPTIONS', '/inventory'))).toBe(`60/55/${reset}`);
  expect(rate(await service.get('/inventory', { key: null }))).toBe(`600/599/${reset}`);
});

test('answers 429 beyond the limit, with Retry-After to the end of the window', async () => {
  const service = await start({ limits: { minute: 2, day: 100 }, ban: false });
  expect(await outcomes(service, 2)).toEqual(['200', '200']);
  service.clock.advance(14_300);
  const refused = await service.get('/inventory');
  expect(refused.json).toEqual({ code: 'rate_limited', message: expect.any(String), status: 429 });
  expect(refused.headers['retry-after']).toBe('46');
  expect(rate(refused)).toBe(`2/0/${seconds(NOON + 60_000)}`);
  await outcomes(service, 5);
  service.clock.set(NOON + 60_000);
  expect(rate(await service.get('/inventory'))).toBe(`2/1/${seconds(NOON + 120_000)}`);
  service.clock.set(NOON + 120_000);
  await outcomes(service, 2);
  service.clock.set(NOON + 180_000);
  await outcomes(service, 2);
  service.clock.set(MIDNIGHT - 1);
  const day = await service.get('/inventory');
  expect(rate(day)).toBe(`2/1/${seconds(MIDNIGHT)}`);
});
