import { expect, test } from 'vitest';
import { Pace } from '../../src/rate-limit/pace.ts';
import fc, { property } from '../support/properties.ts';

const minute = 60_000;
const day = 86_400_000;

/** Returns the times of checks that are sent as early as the pace allows, for a day and a half. */
function looks(wanted: number, limits: { readonly minute: number; readonly day: number | undefined }): number[] {
  const pace = new Pace(wanted);
  const times: number[] = [];
  for (let now = 0; now < 1.5 * day; ) {
    times.push(now);
    pace.recordPoll();
    now += Math.max(wanted, Math.ceil(pace.least(limits, now)), 1);
    // The wait for the day's limit may have become a little longer.
    while (pace.least(limits, now) > now - (times.at(-1) ?? 0)) now += 1000;
  }
  return times;
}

const limits = fc.constantFrom(
  { minute: 60, day: undefined, ofDay: 1000 },
  { minute: 300, day: undefined, ofDay: 10_000 },
  { minute: 60, day: 500, ofDay: 500 },
  { minute: 20, day: undefined, ofDay: Number.POSITIVE_INFINITY },
  { minute: 1000, day: 1000, ofDay: 1000 },
);

property(
  'uses at most a tenth of a limit in any minute and on any day',
  [limits, fc.integer({ min: 500, max: 60_000 })],
  { numRuns: 10 },
  ({ ofDay, ...known }, wanted) => {
    const times = looks(wanted, known);
    const most = (length: number) =>
      times.reduce((max, from, index) => Math.max(max, countUntil(times, index, from + length)), 0);
    expect(most(minute)).toBeLessThanOrEqual(Math.max(1, Math.ceil(known.minute / 10)));
    expect(most(day)).toBeLessThanOrEqual(Math.ceil(ofDay / 10) + 1);
  },
);

test('keeps the wanted interval between checks if the limit leaves room, and lengthens it otherwise', () => {
  expect(new Pace(15_000).least({ minute: 1000, day: 100_000 }, 0)).toBe(600);
  expect(looks(15_000, { minute: 1000, day: undefined }).slice(0, 3)).toEqual([0, 15_000, 30_000]);
  expect(looks(1000, { minute: 60, day: undefined }).slice(0, 3)).toEqual([0, 10_000, 20_000]);
});

test("spreads checks over the rest of the day once the day's share is used up", () => {
  const pace = new Pace(1000);
  const limits = { minute: 1000, day: 1000 };
  for (let count = 0; count < 50; count += 1) pace.recordPoll();
  expect(pace.least(limits, 0)).toBe(day / 50);
  expect(pace.least(limits, day / 200)).toBe((0.75 * day) / 50);
});

test('doubles the interval with each 429, up to 64 times, and halves it after ten responses', () => {
  const pace = new Pace(1000);
  for (let count = 0; count < 9; count += 1) pace.refused();
  expect(pace.interval).toBe(64_000);
  for (let count = 0; count < 10; count += 1) pace.answered();
  expect(pace.interval).toBe(32_000);
  for (let count = 0; count < 100; count += 1) pace.answered();
  expect(pace.interval).toBe(1000);
});

/** Counts the times from `index` on that are before `before`. */
function countUntil(times: readonly number[], index: number, before: number): number {
  let [low, high] = [index, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) < before) low = middle + 1;
    else high = middle;
  }
  return low - index;
}
