import { describe, expect, test } from 'vitest';
import { maxRetries, waitAfterRefusal, waitBeforeRetry } from '../../src/rate-limit/backoff.ts';
import fc, { property } from '../support/seeded-fast-check.ts';

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

  property('never shorter than asked', [asked(), fc.integer({ min: 1, max: 10 }), random()], (ask, episode, chance) => {
    const least = Math.max(ask, 1000 * 2 ** (episode - 1));
    const wait = waitAfterRefusal(ask, episode, chance);
    expect(wait).toBeGreaterThanOrEqual(least);
    expect(wait).toBeLessThanOrEqual(least + Math.min(least / 10, 5000));
  });
});

describe('before a retry', () => {
  test.each([
    // retry, random, wait
    [1, 0, 0],
    [1, 0.5, 250],
    [2, 0.5, 500],
    [3, 0.5, 1000],
    [4, 0.5, 2000],
    [9, 0.5, 4000],
  ])('retry %i, random %f: %i ms', (retry, chance, expected) => {
    expect(waitBeforeRetry(retry, chance)).toBe(expected);
  });

  property('full jitter, a doubling bound', [fc.integer({ min: 1, max: maxRetries }), random()], (retry, chance) => {
    const wait = waitBeforeRetry(retry, chance);
    expect(wait).toBeGreaterThanOrEqual(0);
    expect(wait).toBeLessThanOrEqual(Math.min(500 * 2 ** (retry - 1), 8000));
  });
});
