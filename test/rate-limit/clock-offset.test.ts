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

describe('an answer', () => {
  test('tells the offset to within a second and its round trip', () => {
    expect(narrow(undefined, { date: date, sentAt: 100, receivedAt: 300 })).toEqual({
      least: date - 300,
      most: date + 900,
      at: 300,
      guessed: false,
      single: true,
    });
  });

  test('narrows what is known', () => {
    const known = narrow(undefined, { date: date, sentAt: 100, receivedAt: 100 });
    expect(narrow(known, { date: date, sentAt: 700, receivedAt: 700 })).toMatchObject({
      least: date - 100.12,
      most: date + 300,
    });
  });

  test('goes before a guess', () => {
    expect(narrow(guess(date, 100), { date: date - 500, sentAt: 100, receivedAt: 100 })).toMatchObject({
      least: date - 600,
      guessed: false,
    });
  });
});

describe('backends whose clocks differ by 4 s', () => {
  const told = (known: ClockOffset | undefined, at: number, ahead: number, isFirst = false) =>
    narrow(known, { date: date + at + ahead, sentAt: at, receivedAt: at, isFirst });

  test.each([
    ['behind first', [0, 4000, 4000, 0, 4000]],
    ['ahead first', [4000, 0, 4000, 4000, 4000]],
  ])('%s: the one that is behind counts', (_which, order) => {
    const offset = order.reduce<ClockOffset | undefined>((known, ahead, n) => told(known, n * 1000, ahead), undefined);
    expect(offset && earliestTime(offset, 5000)).toBeCloseTo(date + 5000, -1);
    expect(offset && disagreement(offset)).toBeGreaterThanOrEqual(4000);
  });

  test('it counts for the next window as well, and no longer', () => {
    const first = told(told(undefined, 0, 0), 1000, 4000);
    const next = told(told(first, 60_000, 4000, true), 61_000, 4000);
    expect(earliestTime(next, 61_000)).toBeCloseTo(date + 61_000, -2);
    const last = told(next, 120_000, 4000, true);
    expect(earliestTime(last, 120_000)).toBeCloseTo(date + 124_000, -2);
  });
});

const gap = fc.integer({ min: 0, max: 3_600_000 });

property(
  'the service is never taken to be later than it is, however many answers are told and however the clocks drift',
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
      offset = narrow(offset, {
        date: Math.floor(truth(sentAt + up) / 1000) * 1000,
        sentAt: sentAt,
        receivedAt: at,
      });
    }
    if (offset === undefined) return;
    expect(earliestTime(offset, at + after)).toBeLessThanOrEqual(truth(at + after));
    const reset = truth(at + after);
    expect(truth(whenReached(offset, reset))).toBeGreaterThanOrEqual(reset - 0.001);
  },
);

property('the moment at which a time is reached for sure', [fc.integer({ min: 0, max: 86_400_000 })], (wait) => {
  const offset = narrow(undefined, { date: date, sentAt: 0, receivedAt: 0 });
  expect(earliestTime(offset, whenReached(offset, date + wait))).toBeCloseTo(date + wait, 2);
  expect(earliestTime(offset, Math.ceil(whenReached(offset, date + wait)) + 1)).toBeGreaterThanOrEqual(date + wait);
});
