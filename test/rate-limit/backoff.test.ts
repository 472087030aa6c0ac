import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maxRetries, waitAfterRefusal, waitBeforeRetry } from '../../src/rate-limit/backoff.ts';

const random = () => fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const asked = () => fc.double({ min: 0, max: 1e13, noNaN: true });

describe('after a 429', () => {
  test.each([
    // asked, episode, random, wait
    [0, 1, 0, 1000],
    [0, 2, 0, 2000],
    [0, 3, 0, 4000],
    [60_000, 1, 0, 60_000],
    [60_000, 3, 0, 60_000],
    [60_000, 1, 0.5, 62_500],
    [1000, 1, 0.5, 1050],
    [50_400_000, 1, 0.5, 50_402_500],
  ])('asked for %i ms, episode %i, random %f: %i ms', (ask, episode, chance, expected) => {
    expect(waitAfterRefusal(ask, episode, chance)).toBe(expected);
  });

  test('never shorter than asked or than the backoff, and longer by a tenth or 5 s at most', () => {
    fc.assert(
      fc.property(asked(), fc.integer({ min: 1, max: 10 }), random(), (ask, episode, chance) => {
        const least = Math.max(ask, 1000 * 2 ** (episode - 1));
        const wait = waitAfterRefusal(ask, episode, chance);
        expect(wait).toBeGreaterThanOrEqual(least);
        expect(wait).toBeLessThanOrEqual(least + Math.min(least / 10, 5000));
      }),
    );
  });
});

describe('before a retry', () => {
  test.each([
    // retry, asked, random, wait
    [1, undefined, 0, 0],
    [1, undefined, 0.5, 250],
    [2, undefined, 0.5, 500],
    [3, undefined, 0.5, 1000],
    [4, undefined, 0.5, 2000],
    [9, undefined, 0.5, 4000],
    [1, 7000, 0.5, 7000],
    [1, 0, 0.5, 250],
  ])('retry %i, asked for %j ms, random %f: %i ms', (retry, ask, chance, expected) => {
    expect(waitBeforeRetry(retry, ask, chance)).toBe(expected);
  });

  test('full jitter below a doubling bound, never shorter than asked', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: maxRetries }),
        fc.option(asked(), { nil: undefined }),
        random(),
        (retry, ask, chance) => {
          const wait = waitBeforeRetry(retry, ask, chance);
          expect(wait).toBeGreaterThanOrEqual(ask ?? 0);
          expect(wait).toBeLessThanOrEqual(Math.max(ask ?? 0, Math.min(500 * 2 ** (retry - 1), 8000)));
        },
      ),
    );
  });
});
