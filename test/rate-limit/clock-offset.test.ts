import { describe, expect, test } from 'vitest';
import { type ClockOffset, earliestTime, guess, narrow, whenReached } from '../../src/rate-limit/clock-offset.ts';
import fc from '../support/seeded-fast-check.ts';

const date = 1_768_478_400_000;

describe('an answer', () => {
  test('tells the offset to within a second and its round trip', () => {
    expect(narrow(undefined, date, 100, 300)).toEqual({
      least: date - 300,
      most: date + 900,
      at: 300,
      guessed: false,
    });
  });

  test('narrows what is known', () => {
    const known = narrow(undefined, date, 100, 100);
    expect(narrow(known, date, 700, 700)).toMatchObject({ least: date - 100.12, most: date + 300 });
  });

  test('that can not be true together with what is known goes before it: a clock was stepped', () => {
    const known = narrow(undefined, date, 100, 100);
    expect(narrow(known, date + 3_600_000, 200, 200)).toMatchObject({ least: date + 3_599_800 });
  });

  test('goes before a guess', () => {
    expect(narrow(guess(date, 100), date - 500, 100, 100)).toMatchObject({ least: date - 600, guessed: false });
  });
});

test('the service is never taken to be later than it is, however many answers are told and however the clocks drift', () => {
  const gap = fc.integer({ min: 0, max: 3_600_000 });
  fc.assert(
    fc.property(
      fc.array(fc.record({ gap, up: fc.integer({ min: 0, max: 2000 }), down: fc.integer({ min: 0, max: 2000 }) }), {
        minLength: 1,
      }),
      fc.integer({ min: -100, max: 100 }),
      gap,
      (answers, ppm, after) => {
        const truth = (at: number) => date + 123 + at * (1 + ppm / 1e6);
        let offset: ClockOffset | undefined;
        let at = 0;
        for (const { gap, up, down } of answers) {
          const sentAt = at + gap;
          at = sentAt + up + down;
          offset = narrow(offset, Math.floor(truth(sentAt + up) / 1000) * 1000, sentAt, at);
        }
        if (offset === undefined) return;
        expect(earliestTime(offset, at + after)).toBeLessThanOrEqual(truth(at + after));
        const reset = truth(at + after);
        expect(truth(whenReached(offset, reset))).toBeGreaterThanOrEqual(reset - 0.001);
      },
    ),
  );
});

test('the moment at which a time is reached for sure', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 86_400_000 }), (wait) => {
      const offset = narrow(undefined, date, 0, 0);
      expect(earliestTime(offset, whenReached(offset, date + wait))).toBeCloseTo(date + wait, 2);
      expect(earliestTime(offset, Math.ceil(whenReached(offset, date + wait)) + 1)).toBeGreaterThanOrEqual(date + wait);
    }),
  );
});
