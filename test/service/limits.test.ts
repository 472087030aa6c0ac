import { expect, test } from 'vitest';
import { generateKey } from '../../src/service/index.ts';
import { NOON, outcomes, rate, start, TestClock, temporaryFile } from './support.ts';

const seconds = (time: number) => time / 1000;
const MIDNIGHT = NOON + 12 * 3_600_000;

test('every answer tells limit, remaining and reset, whatever its status', async () => {
  const service = await start({ plan: 'free' });
  const reset = seconds(NOON + 60_000);
  expect(rate(await service.get('/inventory'))).toBe(`60/59/${reset}`);
  expect(rate(await service.get('/nowhere'))).toBe(`60/58/${reset}`);
  expect(rate(await service.patch('/inventory/1', 'x'))).toBe(`60/57/${reset}`);
  expect(rate(await service.call('POST', '/inventory'))).toBe(`60/56/${reset}`);
  expect(rate(await service.call('OPTIONS', '/inventory'))).toBe(`60/55/${reset}`);
  expect(rate(await service.get('/inventory', { key: null }))).toBe(`600/599/${reset}`);
});

test('the window that is shown is the minute, then the day as that runs out, which it is on a tie too', async () => {
  const service = await start({ limits: { minute: 3, day: 5 } });
  const seen: string[] = [];
  for (let minute = 0; minute < 3; minute += 1) {
    seen.push(rate(await service.get('/inventory')));
    service.clock.advance(60_000);
  }
  const day = seconds(MIDNIGHT);
  expect(seen).toEqual([`3/2/${seconds(NOON + 60_000)}`, `3/2/${seconds(NOON + 120_000)}`, `5/2/${day}`]);
});

test('beyond the limit: 429 with Retry-After to the end of the window, and no charge', async () => {
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

test('services with minutes of different lengths on one file share each window, and reset nothing', async () => {
  const shared = { file: temporaryFile(), key: generateKey(), clock: new TestClock(), ban: false } as const;
  const long = await start({ ...shared, limits: { minute: 3, day: 100 } });
  const short = await start({ ...shared, windowSeconds: 4 });
  const alternating = async () => [
    ...(await outcomes(long, 1)),
    ...(await outcomes(short, 2)),
    ...(await outcomes(long, 1)),
  ];
  expect(await alternating()).toEqual(['200', '200', '200', '429 rate_limited']);
  shared.clock.advance(30_000);
  expect((await short.get('/inventory')).headers['retry-after']).toBe('30');
  shared.clock.advance(30_000);
  expect(rate(await short.get('/inventory'))).toBe(`3/2/${seconds(NOON + 64_000)}`);
  expect(rate(await long.get('/inventory'))).toBe(`3/1/${seconds(NOON + 64_000)}`);
});
