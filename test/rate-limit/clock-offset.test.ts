import { describe, expect, test } from 'vitest';
import {
  type ClockOffset,
  disagreement,
  earliestTime,
  guess,
  narrow,
  whenReached,
} from '../../src/rate-limit/clock-offset.ts';
import fc, { property } from '../support/seeded-fast-check.ts';

const date = 1_768_478_400_000;
/** Returns the offset after one more response, which is sent and received at the same moment. */
const told = (known: ClockOffset | undefined, at: number, ahead = 0, isFirst = false) =>
  narrow(known, { date: date + ahead, sentAt: at, receivedAt: at, isFirst });
const first = told(undefined, 100);

test.each<[string, ClockOffset, Partial<ClockOffset>]>([
  [
    'learns the offset from a response, to within a second and its round trip',
    narrow(undefined, { date, sentAt: 100, receivedAt: 300 }),
    { least: date - 300, most: date + 900, at: 300, guessed: false, single: true },
  ],
  ["guesses the offset from the machine's clock", guess(date, 100), { least: date - 100, most: date + 900 }],
  ['narrows the known offset with another response', told(first, 700), { least: date - 100.12, most: date + 300 }],
  [
    'replaces a guessed offset with the first response',
    told(guess(date, 100), 100, -500),
    { least: date - 600, guessed: false },
  ],
])('%s', (_what, offset, expected) => {
  expect(offset).toMatchObject(expected);
});

describe('the clock of two backends that differ by 4 s', () => {
  const toldBy = (known: ClockOffset | undefined, at: number, ahead: number, isFirst = false) =>
    told(known, at, at + ahead, isFirst);

  test.each([
    ['if that one responds first', [0, 4000, 4000, 0, 4000]],
    ['even if the other one responds first', [4000, 0, 4000, 4000, 4000]],
  ])('follows the backend whose clock is behind, %s', (_which, order) => {
    const offset = order.reduce<ClockOffset | undefined>(
      (known, ahead, n) => toldBy(known, n * 1000, ahead),
      undefined,
    );
    expect(offset && earliestTime(offset, 5000)).toBeCloseTo(date + 5000, -1);
    expect(offset && disagreement(offset)).toBeCloseTo(5000, -1);
  });

  test('follows the backend whose clock is behind through the next window, but no longer', () => {
    const disputed = toldBy(toldBy(undefined, 0, 0), 1000, 4000);
    const next = toldBy(toldBy(disputed, 60_000, 4000, true), 61_000, 4000);
    expect(earliestTime(next, 61_000)).toBeCloseTo(date + 61_000, -2);
    expect(earliestTime(toldBy(next, 62_000, 8000), 62_000)).toBeCloseTo(date + 62_000, -2);
    const last = toldBy(next, 120_000, 4000, true);
    expect(earliestTime(last, 120_000)).toBeCloseTo(date + 124_000, -2);
  });
});

const gap = fc.integer({ min: 0, max: 3_600_000 });

property(
  "never takes the service's time to be later than it is, even if clocks drift",
  [
    fc.array(fc.record({ gap, up: fc.integer({ min: 0, max: 2000 }), down: fc.integer({ min: 0, max: 2000 }) }), {
      minLength: 1,
    }),
    fc.integer({ min: -100, max: 100 }),
    gap,
  ],
  (answers, ppm, after) => {
    const truth = (at: number) => date + 123 + at * (1 + ppm / 1e6);
    let offset: ClockOffset | undefined;
    let at = 0;
    for (const { gap, up, down } of answers) {
      const sentAt = at + gap;
      at = sentAt + up + down;
      offset = narrow(offset, { date: Math.floor(truth(sentAt + up) / 1000) * 1000, sentAt, receivedAt: at });
    }
    if (offset === undefined) return;
    expect(earliestTime(offset, at + after)).toBeLessThanOrEqual(truth(at + after));
    const reset = truth(at + after);
    expect(truth(whenReached(offset, reset))).toBeGreaterThanOrEqual(reset - 0.001);
  },
);

property(
  "finds when the service's clock has certainly reached a given time",
  [fc.integer({ min: 0, max: 86_400_000 })],
  (wait) => {
    const offset = told(undefined, 0);
    expect(earliestTime(offset, whenReached(offset, date + wait))).toBeCloseTo(date + wait, 2);
    expect(earliestTime(offset, Math.ceil(whenReached(offset, date + wait)) + 1)).toBeGreaterThanOrEqual(date + wait);
  },
);
