import { expect, test } from 'vitest';
import { emptyState, type KeyState } from '../../src/rate-limit/key-state.ts';
import { currentGate, estimate, knownLimits, type LimitSummary } from '../../src/rate-limit/known-limits.ts';
import { bulkReserve } from '../../src/rate-limit/rules.ts';
import fc, { property } from '../support/properties.ts';
import { simulate as run } from './simulation.ts';

const now = Date.UTC(2026, 0, 15, 12, 0, 20);
const midnight = Date.UTC(2026, 0, 16);
const minute = (remaining: number, limit = 60, resetAt = now + 40_000) =>
  ({ kind: 'minute', limit, remaining, resetAt }) as const;
const day = (remaining: number, limit = 1000, resetAt = midnight) =>
  ({ kind: 'day', limit, remaining, resetAt }) as const;

test('estimates an infinite time for a limit of 0, and no time if no limit is known', () => {
  expect(estimate(1, [minute(0, 0)], now).seconds).toBe(Number.POSITIVE_INFINITY);
  expect(estimate(0, [minute(0, 0)], now).seconds).toBe(0);
  expect(estimate(1_000_000, [], now).seconds).toBe(0);
});

test('returns the limit per minute, if it is known', () => {
  expect(estimate(1, [day(5), minute(1, 300)], now).perMinute).toBe(300);
  expect(estimate(1, [day(5)], now).perMinute).toBeUndefined();
});

test.each<[string, number, LimitSummary[], object | undefined]>([
  ['not known', 5, [minute(1)], undefined],
  ['enough', 920, [minute(1), day(940)], { left: 940, kept: 20, waiting: 0, resetAt: midnight }],
  ['not enough', 1200, [day(940)], { left: 940, kept: 20, waiting: 280, resetAt: midnight }],
  ['all of it reserved', 5, [day(7)], { left: 7, kept: 7, waiting: 5, resetAt: midnight }],
  ['spent', 5, [day(0)], { left: 0, kept: 0, waiting: 5, resetAt: midnight }],
  [
    'a day that is over',
    5,
    [day(0, 1000, now - 1000)],
    { left: 1000, kept: 20, waiting: 0, resetAt: now + 86_399_000 },
  ],
])('estimates the daily quota: %s', (_what, requests, limits, quota) => {
  expect(estimate(requests, limits, now).day).toEqual(quota);
});

const limits = fc
  .record({
    kind: fc.constantFrom('minute' as const, 'day' as const),
    limit: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 400 })),
    used: fc.integer({ min: 0, max: 400 }),
    resetAt: fc.integer({ min: now - 200_000, max: now + 100_000 }),
  })
  .map(({ used, ...facts }): LimitSummary => ({ ...facts, remaining: Math.max(0, facts.limit - used) }));
const keys = fc.uniqueArray(limits, { selector: ({ kind }) => kind, maxLength: 2 });

property('estimates when the last of any number of requests is sent', [fc.nat(300), keys], (requests, known) => {
  expect(now + estimate(requests, known, now).seconds * 1000).toBeCloseTo(simulate(requests, known), 3);
});

property('estimates how many requests have to wait for the next day', [fc.nat(500), limits], (requests, limit) => {
  const known = { ...limit, kind: 'day' as const };
  const { day: quota } = estimate(requests, [known], now);
  const enough = requests - (quota?.waiting ?? 0);
  expect(simulate(enough, [known])).toBe(now);
  if (quota?.waiting) expect(simulate(enough + 1, [known])).toBe(quota.resetAt);
});

const runs = fc.record({
  limit: fc.integer({ min: 8, max: 80 }),
  requests: fc.integer({ min: 1, max: 120 }),
  // A run starts at least 5 s before a minute ends, because later requests are counted in the next one.
  start: fc.integer({ min: now - 20_000, max: now + 35_000 }),
  seed: fc.nat(),
});

property('estimates how long a bulk run takes if it is alone on its key', [runs], { numRuns: 10 }, async (drawn) => {
  const { limit, requests, start, seed } = drawn;
  const { endedAt } = await run({
    service: { window: 60_000, limit, start },
    processes: [{ requests, concurrency: 8, bulk: true }],
    latency: [1, 20],
    seed,
  });
  const estimated = estimate(requests, [minute(limit, limit)], start).seconds * 1000;
  expect(endedAt).toBeGreaterThanOrEqual(estimated);
  // The estimate may differ: the service's clock is known to the second, and each window begins with a single request.
  expect(endedAt).toBeLessThan(estimated + 3000 + requests * 40);
});

/** Sends the requests in turn, and waits while a window is used up. @returns when the last request is sent */
function simulate(requests: number, known: readonly LimitSummary[]): number {
  const windows = known.map(({ kind, limit, remaining, resetAt }) => {
    return { length: kind === 'day' ? 86_400_000 : 60_000, limit, left: remaining, end: resetAt };
  });
  let at = now;
  for (let sent = 0; sent < requests; ) {
    for (const window of windows) {
      while (window.end <= at) {
        window.end += window.length;
        window.left = window.limit;
      }
    }
    if (windows.every(({ left, limit }) => left > bulkReserve(limit))) {
      for (const window of windows) window.left -= 1;
      sent += 1;
    } else {
      at = Math.min(...windows.map(({ end }) => end));
    }
  }
  return at;
}

const told = { limit: 60, left: -1, least: 0, first: { left: 0, at: 0 }, own: 0, reset: now + 1000 };
const state: KeyState = {
  ...emptyState(),
  windows: { minute: { ...told, toldAt: now - 2 }, day: { ...told, toldAt: now - 1 } },
  gate: { at: now + 3000, length: 9000, reason: 'refused' },
};

test('lists known limits, newest first, and which windows have ended', () => {
  const limit = { limit: 60, remaining: 0, resetAt: now + 1000, isOver: false };
  expect(knownLimits(state, now)).toEqual([
    { ...limit, kind: 'day', asOf: now - 1 },
    { ...limit, kind: 'minute', asOf: now - 2 },
  ]);
  expect(knownLimits(state, now + 1000)).toMatchObject([{ isOver: true }, { isOver: true }]);
});

test.each([
  [now, now + 3000],
  [now + 2999, now + 3000],
  [now + 3000, undefined],
  // The clock was set back.
  [now - 86_400_000, now - 86_400_000 + 9000],
])('returns the gate while it holds, never later than its own length from now: at %i until %j', (at, until) => {
  expect(currentGate(state, at)).toEqual(until && { until, reason: 'refused' });
});
