import { expect, test } from 'vitest';
import { type ProgressNumbers, progressLine, progressSentence } from '../../src/output/progress-line.ts';
import { createPaint, plainPaint } from '../../src/output/terminal.ts';
import { visible } from './render.ts';

const half: ProgressNumbers = {
  total: 1200,
  done: 512,
  failed: 2,
  rate: 9.83,
  left: 70,
  waiting: undefined,
  waitReason: 'refused',
};
const start = { done: 0, failed: 0, rate: undefined, left: undefined };
const line = (changes: Partial<ProgressNumbers> = {}, width = 79) =>
  progressLine({ ...half, ...changes }, width, plainPaint);

test.each<[string, Partial<ProgressNumbers>, string]>([
  ['the beginning', start, '[░░░░░░░░░░░░░░]  0/1,200'],
  ['the end', { done: 1200, failed: 0, left: 0 }, '[██████████████]  1,200/1,200  9.8/s'],
  ['nearly the end', { done: 1199, failed: 0, left: 0.01 }, '[█████████████░]  1,199/1,200  9.8/s  about 1 s left'],
  ['a slow run', { failed: 0, rate: 0.05, left: 43_000 }, '[█████░░░░░░░░░]  512/1,200  3/min  about 12 h left'],
  ['ten rows a second', { failed: 0, rate: 10.4, left: 1 }, '[█████░░░░░░░░░]  512/1,200  10/s  about 1 s left'],
  ['a fast run', { failed: 0, rate: 1234.5, left: 1 }, '[█████░░░░░░░░░]  512/1,200  1,235/s  about 1 s left'],
  [
    'a wait for the service',
    { waiting: 41_300, waitReason: 'unavailable' },
    '[█████░░░░░░░░░]  512/1,200  2 failed  … waiting for the service: 42 s',
  ],
  ['nothing to do', { ...start, total: 0 }, '[██████████████]  0/0'],
])('draws a progress line: %s', (_what, changes, text) => expect(line(changes)).toBe(text));

test('omits the less important parts of a progress line on a narrow terminal', () => {
  const forms = (changes?: Partial<ProgressNumbers>) => {
    const first = new Map<string, number>();
    for (let width = 120; width >= 0; width -= 1) first.set(line(changes, width), width);
    return [...first].map(([text, width]) => `${width} columns: ${text}`.trimEnd()).join('\n');
  };
  expect(forms()).toMatchInlineSnapshot(`
    "67 columns: [█████░░░░░░░░░]  512/1,200  2 failed  9.8/s  about 1 min 10 s left
    42 columns: 512/1,200  2 failed  about 1 min 10 s left
    9 columns: 512/1,200
    0 columns:"
  `);
  expect(forms({ waiting: 42_000 })).toMatchInlineSnapshot(`
    "73 columns: [█████░░░░░░░░░]  512/1,200  2 failed  … waiting for the rate limit: 42 s
    55 columns: 512/1,200  2 failed  … waiting for the rate limit: 42 s
    9 columns: 512/1,200
    0 columns:"
  `);
});

test('colours the parts of a progress line', async () => {
  const paint = await createPaint(true);
  expect(visible(progressLine({ ...half, waiting: 1000 }, 79, paint))).toMatchInlineSnapshot(
    `"[␛[36m█████␛[39m␛[2m░░░░░░░░░␛[22m]  512/1,200  ␛[31m2 failed␛[39m  ␛[33m… waiting for the rate limit: 1 s␛[39m"`,
  );
});

test.each<[Partial<ProgressNumbers>, string]>([
  [{}, '512 of 1,200 done, 2 failed, about 1 min 10 s left.'],
  [{ failed: 0, left: undefined }, '512 of 1,200 done.'],
  [{ done: 1200, failed: 0, left: 0 }, '1,200 of 1,200 done.'],
])('formats progress with %j as %s', (changes, text) => expect(progressSentence({ ...half, ...changes })).toBe(text));
