import { describe, expect, test } from 'vitest';
import { counted } from '../../src/inventory/values.ts';
import { type EstimateFacts, estimateText } from '../../src/output/rate-limit-text.ts';
import { roughDuration } from '../../src/output/time.ts';
import fc, { property } from '../support/seeded-fast-check.ts';

/** 07:00:20 in New York, where the tests are. */
const now = Date.UTC(2026, 0, 15, 12, 0, 20);
const midnight = Date.UTC(2026, 0, 16);
const facts = (changes: Partial<EstimateFacts>): EstimateFacts => ({
  ...{ seconds: 0, perMinute: undefined, day: undefined, ...changes },
});
const day = (left: number, kept: number, waiting: number) => ({ left, kept, waiting, resetAt: midnight });

test.each<[number, Partial<EstimateFacts>, string]>([
  [1, {}, '1 change, 2 requests: no wait for the rate limit'],
  [5, { perMinute: 60, day: day(940, 20, 0) }, '5 changes, 6 requests: no wait for the rate limit'],
  [1200, { seconds: 1180, perMinute: 60 }, '1,200 changes, 1,201 requests: about 20 min at 60 a minute'],
  [1200, { working: 19 }, '1,200 changes, 1,201 requests: no wait for the rate limit, about 19 s'],
  [3, { working: 0.4 }, '3 changes, 4 requests: no wait for the rate limit'],
  [1200, { seconds: 12 }, '1,200 changes, 1,201 requests: about 12 s'],
  [1200, { seconds: 12, working: 19 }, '1,200 changes, 1,201 requests: about 19 s'],
  [5, { seconds: Number.POSITIVE_INFINITY, perMinute: 0 }, '5 changes, 6 requests: the rate limit allows none'],
  [
    1200,
    { seconds: 43_180, perMinute: 1000, day: day(940, 20, 280) },
    "1,200 changes, 1,201 requests: about 12 h at 1,000 a minute; the day's quota has 940 left (20 kept for other commands), so 280 changes have to wait until 19:00",
  ],
  [
    1,
    { seconds: 43_180, day: day(0, 0, 1) },
    "1 change, 2 requests: about 12 h; the day's quota has 0 left, so 1 change has to wait until 19:00",
  ],
])('what a run takes: %i changes, %j', (changes, estimate, text) => {
  expect(estimateText(changes, facts(estimate), now)).toBe(text);
});

describe('a rough duration', () => {
  test.each([
    [0, '0 s'],
    [41.2, '42 s'],
    [61, '1 min 10 s'],
    [601, '11 min'],
    [3599, '1 h'],
    [36_001, '11 h'],
    [Number.POSITIVE_INFINITY, 'an unknown time'],
  ])('%d: %s', (seconds, text) => expect(roughDuration(seconds)).toBe(text));

  const sizes: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3600, d: 86_400 };

  property('is never shorter than the time', [fc.nat(10_000_000)], (seconds) => {
    const parts = [...roughDuration(seconds).matchAll(/(\d+) (s|min|h|d)/g)];
    const total = parts.reduce((sum, [, count, unit]) => sum + Number(count) * (sizes[unit ?? ''] ?? 0), 0);
    expect(total).toBeGreaterThanOrEqual(seconds);
    expect(total).toBeLessThan(seconds * 1.2 + 1);
  });
});

test.each([
  [0, '0 rows'],
  [1, '1 row'],
  [1200, '1,200 rows'],
])('%i: %s', (count, text) => expect(counted(count, 'row')).toBe(text));
