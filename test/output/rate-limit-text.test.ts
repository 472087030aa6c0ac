import { expect, test } from 'vitest';
import {
  estimateText,
  type LimitRow,
  limitsView,
  type RunEstimate,
  rateLimitLine,
} from '../../src/output/rate-limit-text.ts';
import { formatDuration, roughDuration, shortTime } from '../../src/output/time.ts';
import fc, { property } from '../support/properties.ts';
import { render, visible } from './render.ts';

test.each([
  [60, 57, 42, '57 of 60 left, resets in 42 s'],
  [1000, 0, 33_120, '0 of 1000 left, resets in 9 h 12 min'],
  [60, 57, 0, '57 of 60 left, resets now'],
  [60, 59, 60, '59 of 60 left, resets in 60 s'],
  [60, 59, 99, '59 of 60 left, resets in 99 s'],
  [60, 59, 100, '59 of 60 left, resets in 1 min 40 s'],
])('formats a limit of %d with %d left and a reset in %d s as %s', (limit, remaining, resetIn, text) => {
  expect(rateLimitLine({ limit, remaining }, resetIn, String)).toBe(`Rate limit: ${text}`);
});

/** 07:00:20 in New York, the time zone of the tests. */
const now = Date.UTC(2026, 0, 15, 12, 0, 20);
const day = (left: number, kept: number, waiting: number) => {
  return { left, kept, waiting, resetAt: Date.UTC(2026, 0, 16) };
};

test.each<[number, Partial<RunEstimate>, string]>([
  [1, {}, '1 change, 2 requests: no wait for the rate limit'],
  [5, { perMinute: 60, day: day(940, 20, 0) }, '5 changes, 6 requests: no wait for the rate limit'],
  [1200, { seconds: 1180, perMinute: 60 }, '1,200 changes, 1,201 requests: about 20 min at 60 a minute'],
  [1200, { working: 19 }, '1,200 changes, 1,201 requests: no wait for the rate limit, about 19 s'],
  [3, { working: 1 }, '3 changes, 4 requests: no wait for the rate limit'],
  [3, { working: 1.5 }, '3 changes, 4 requests: no wait for the rate limit, about 2 s'],
  [1200, { seconds: 12 }, '1,200 changes, 1,201 requests: about 12 s'],
  [1200, { seconds: 12, working: 19 }, '1,200 changes, 1,201 requests: about 19 s'],
  [5, { seconds: Number.POSITIVE_INFINITY, perMinute: 0 }, '5 changes, 6 requests: the rate limit allows no request'],
  [
    1200,
    { seconds: 43_180, perMinute: 1000, day: day(940, 20, 280) },
    "1,200 changes, 1,201 requests: about 12 h at 1,000 a minute; the day's quota has 940 left (20 reserved for other commands), so 280 changes have to wait until 19:00",
  ],
  [
    1,
    { seconds: 43_180, day: day(0, 0, 1) },
    "1 change, 2 requests: about 12 h; the day's quota has 0 left, so 1 change has to wait until 19:00",
  ],
])('formats the estimate of %i changes with %j', (changes, estimate, text) => {
  expect(estimateText(changes, { seconds: 0, perMinute: undefined, day: undefined, ...estimate }, now)).toBe(text);
});

test.each([
  [-5, '0 s', '0 s'],
  [0.2, '1 s', '1 s'],
  [41.2, '42 s', '42 s'],
  [59.5, '1 min', '1 min'],
  [61, '1 min 1 s', '1 min 10 s'],
  [200, '3 min 20 s', '3 min 20 s'],
  [601, '10 min 1 s', '11 min'],
  [3599.5, '1 h', '1 h'],
  [36_001, '10 h 1 min', '11 h'],
  [86_399, '1 d', '1 d'],
  [Number.NaN, 'an unknown time', 'an unknown time'],
  [Number.POSITIVE_INFINITY, 'an unknown time', 'an unknown time'],
])('formats %d seconds as %s, and roughly as %s', (seconds, exact, rough) => {
  expect([formatDuration(seconds), roughDuration(seconds)]).toEqual([exact, rough]);
});

const sizes: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3600, d: 86_400 };
const secondsIn = (text: string) =>
  [...text.matchAll(/(\d+) (s|min|h|d)/g)].reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (sizes[unit] ?? 0),
    0,
  );

property('never formats a duration as shorter than it is', [fc.integer({ min: 0, max: 10_000_000 })], (seconds) => {
  const over = secondsIn(formatDuration(seconds)) - seconds;
  expect(over).toBeGreaterThanOrEqual(0);
  expect(over).toBeLessThan(seconds < 3600 ? 1 : seconds < 86_400 ? 60 : 3600);
  const rough = secondsIn(roughDuration(seconds));
  expect(rough).toBeGreaterThanOrEqual(seconds);
  expect(rough).toBeLessThan(seconds * 1.2 + 1);
});

const key = { target: { env: 'staging', store: undefined }, key: 'abcd', gate: undefined, kind: 'minute' } as const;
const window = (remaining: number, more: Partial<LimitRow> = {}): LimitRow => {
  return { ...key, limit: 100, remaining, resetAt: now + 40_000, asOf: now - 1000, ...more };
};

test('shows how full each window is, unless it has ended', async () => {
  const rows = [
    window(100),
    window(21),
    window(20),
    window(0, { target: { env: 'production', store: 'north' } }),
    window(-5, { kind: 'day' }),
    window(0, { limit: 0 }),
    window(50, { isOver: true }),
    { target: key.target, key: 'abcd', gate: now + 60_000 },
  ];
  const table = await render('table', limitsView(rows, now), { color: true, width: 120 });
  expect(visible(table).replace(/␛\[1m.*\n/, '')).toMatchInlineSnapshot(`
    "staging           abcd  minute    100   100    0%  ␛[2m░░░░░░░░░░␛[22m  07:01:00           07:00:19
    staging           abcd  minute    100    21   79%  ␛[32m███████␛[39m␛[2m░░░␛[22m  07:01:00           07:00:19
    staging           abcd  minute    100    20   80%  ␛[33m████████␛[39m␛[2m░░␛[22m  07:01:00           07:00:19
    north/production  abcd  minute    100     0  100%  ␛[31m██████████␛[39m  07:01:00           07:00:19
    staging           abcd  day       100    -5  100%  ␛[31m██████████␛[39m  07:01:00           07:00:19
    staging           abcd  minute      0     0  100%  ␛[31m██████████␛[39m  07:01:00           07:00:19
    staging           abcd  minute    100                          ended at 07:01:00  07:00:19
    "
  `);
  expect(await render('ndjson', limitsView(rows.slice(-2), now))).toMatchInlineSnapshot(`
    "{"env":"staging","store":null,"key":"abcd","window":"minute","limit":100,"remaining":null,"resetAt":"2026-01-15T12:01:00.000Z","asOf":"2026-01-15T12:00:19.000Z","gate":null}
    {"env":"staging","store":null,"key":"abcd","window":null,"limit":null,"remaining":null,"resetAt":null,"asOf":null,"gate":"2026-01-15T12:01:20.000Z"}
    "
  `);
});

test.each([
  [now, '15 Jan 07:00'],
  [Date.UTC(2026, 0, 1, 5), ' 1 Jan 00:00'],
  [Date.UTC(2026, 0, 1, 4, 59), '31 Dec 2025'],
  [Date.UTC(2027, 1, 3, 12), ' 3 Feb 2027'],
])('shows the time %i in a short form: %s', (time, text) => expect(shortTime(time, now)).toBe(text));
