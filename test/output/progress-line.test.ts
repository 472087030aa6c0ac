import { describe, expect, it, test } from 'vitest';
import { type ProgressFacts, progressLine, progressSentence } from '../../src/output/progress-line.ts';
import { createPaint, plainPaint } from '../../src/output/terminal.ts';
import { visibleWidth } from '../../src/output/text-width.ts';
import fc from '../support/seeded-fast-check.ts';
import { visible } from './render.ts';

const half: ProgressFacts = {
  ...{ total: 1200, done: 512, failed: 2, rate: 9.83, left: 70, waiting: undefined, waitReason: 'refused' },
};
const line = (changes: Partial<ProgressFacts> = {}, width = 79) =>
  progressLine({ ...half, ...changes }, width, plainPaint);

describe('the line', () => {
  const start = { done: 0, failed: 0, rate: undefined, left: undefined };

  test.each<[string, Partial<ProgressFacts>, string]>([
    ['half way', {}, '[█████░░░░░░░░░]  512/1,200  2 failed  9.8/s  about 1 min 10 s left'],
    ['the beginning', start, '[░░░░░░░░░░░░░░]  0/1,200'],
    ['the end', { done: 1200, failed: 0, left: 0 }, '[██████████████]  1,200/1,200  9.8/s'],
    ['nearly the end', { done: 1199, failed: 0, left: 0.01 }, '[█████████████░]  1,199/1,200  9.8/s  about 1 s left'],
    ['slow', { failed: 0, rate: 0.0167, left: 43_000 }, '[█████░░░░░░░░░]  512/1,200  1/min  about 12 h left'],
    ['ten a second', { failed: 0, rate: 10.4, left: 1 }, '[█████░░░░░░░░░]  512/1,200  10/s  about 1 s left'],
    ['fast', { failed: 0, rate: 1234.5, left: 1 }, '[█████░░░░░░░░░]  512/1,200  1,235/s  about 1 s left'],
    ['waiting', { waiting: 41_300 }, '[█████░░░░░░░░░]  512/1,200  2 failed  … waiting for the rate limit: 42 s'],
    [
      'waiting for the service',
      { waiting: 41_300, waitReason: 'unavailable' },
      '[█████░░░░░░░░░]  512/1,200  2 failed  … waiting for the service: 42 s',
    ],
    ['nothing to do', { ...start, total: 0 }, '[██████████████]  0/0'],
  ])('%s', (_what, changes, text) => expect(line(changes)).toBe(text));

  it('leaves out the less important where the terminal is narrow', () => {
    const widths = [79, 66, 60, 52, 44, 30, 19, 12, 5];
    expect(widths.map((width) => line({}, width)).join('\n')).toMatchInlineSnapshot(`
      "[█████░░░░░░░░░]  512/1,200  2 failed  9.8/s  about 1 min 10 s left
      [███░░░░░]  512/1,200  2 failed  9.8/s  about 1 min 10 s left
      [███░░░░░]  512/1,200  2 failed  about 1 min 10 s left
      512/1,200  2 failed  about 1 min 10 s left
      512/1,200  2 failed  about 1 min 10 s left
      512/1,200  2 failed
      512/1,200  2 failed
      512/1,200
      "
    `);
    expect(widths.map((width) => line({ waiting: 42_000 }, width)).join('\n')).toMatchInlineSnapshot(`
      "[█████░░░░░░░░░]  512/1,200  2 failed  … waiting for the rate limit: 42 s
      512/1,200  2 failed  … waiting for the rate limit: 42 s
      512/1,200  2 failed  … waiting for the rate limit: 42 s
      512/1,200  2 failed  waiting 42 s
      512/1,200  2 failed  waiting 42 s
      512/1,200  2 failed
      512/1,200  2 failed
      512/1,200
      "
    `);
  });

  it('paints', async () => {
    const paint = await createPaint(true);
    expect(visible(progressLine({ ...half, waiting: 1000 }, 79, paint))).toMatchInlineSnapshot(
      `"[␛[36m█████␛[39m␛[2m░░░░░░░░░␛[22m]  512/1,200  ␛[31m2 failed␛[39m  ␛[33m… waiting for the rate limit: 1 s␛[39m"`,
    );
  });

  it('is never wider than there is room', async () => {
    const paint = await createPaint(true);
    const maybe = (values: fc.Arbitrary<number>) => fc.option(values, { nil: undefined });
    const facts = fc.record({
      total: fc.nat(2_000_000),
      done: fc.nat(2_000_000),
      failed: fc.nat(2_000_000),
      rate: maybe(fc.double({ min: 0, noNaN: true })),
      left: maybe(fc.double({ min: 0, noNaN: true })),
      waiting: maybe(fc.double({ min: 0, max: 1e9, noNaN: true })),
      waitReason: fc.constantFrom('refused', 'unavailable'),
    });
    fc.assert(
      fc.property(facts, fc.integer({ min: 0, max: 120 }), (some, width) => {
        expect(visibleWidth(progressLine(some, width, paint))).toBeLessThanOrEqual(width);
      }),
    );
  });
});

test.each<[Partial<ProgressFacts>, string]>([
  [{}, '512 of 1,200 done, 2 failed, about 1 min 10 s left.'],
  [{ failed: 0, left: undefined }, '512 of 1,200 done.'],
  [{ done: 1200, failed: 0, left: 0 }, '1,200 of 1,200 done.'],
])('the sentence: %j: %s', (changes, text) => expect(progressSentence({ ...half, ...changes })).toBe(text));
