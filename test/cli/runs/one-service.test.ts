import { expect, test, vi } from 'vitest';
import { createSystemClock } from '../../../bin/system-clock.ts';
import type { Clock } from '../../../src/shared/clock.ts';
import { slowly } from '../../support/scripted-service.ts';
import { openTill, type Till } from '../../support/till.ts';

// The commands wait in real time, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

/** Commands that wait for each other share a running clock. */
const clock = createSystemClock();

/** Two URLs that mean the same service: two spellings, or the same URL in two environments. */
const ways: Readonly<Record<string, (url: string) => readonly string[]>> = {
  '127.0.0.1 and localhost': (url) => [url, url.replace('127.0.0.1', 'localhost')],
  'a path spelled in two ways': (url) => [url.replace('/v1', '/a/v1'), url.replace('/v1', '/%61/v1')],
  'staging and production with one URL': (url) => [url, url],
};

/** Runs the command this many times at once, with the URLs in turn; all succeed. */
async function runEach({ service, run }: Till<Clock>, way: string, count: number, command: string): Promise<void> {
  const urls = ways[way]?.(service.url) ?? [];
  const envOf = (index: number) =>
    way.startsWith('staging') && index % 2 === 1
      ? { PETSTOCK_ENV: 'production', PETSTOCK_URL_PRODUCTION: urls[1], PETSTOCK_API_KEY_PRODUCTION: service.key }
      : { PETSTOCK_URL_STAGING: urls[index % 2] };
  const results = await Promise.all(Array.from({ length: count }, (_, index) => run(command, { env: envOf(index) })));
  expect(results.filter(({ code }) => code !== 0)).toEqual([]);
}

test.each(Object.keys(ways))('adds up adjusts of one pet through %s', async (way) => {
  const till = await openTill({ stock: { 1: 0 } }, clock);
  till.service.always('GET', slowly(10));
  till.service.always('PATCH', slowly(30));
  await runEach(till, way, 6, 'inventory adjust 1 +1 --yes -q');
  expect(till.service.stockOf(1)).toBe(6);
});

test('shares one rate limit between 127.0.0.1 and localhost', async () => {
  const till = await openTill({ limit: { limit: 3, seconds: 1 } }, clock);
  till.service.always('GET', slowly(30));
  await runEach(till, '127.0.0.1 and localhost', 6, 'inventory list -q');
  expect(till.service.requests.filter(({ status }) => status === 429)).toEqual([]);
});
