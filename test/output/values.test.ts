import { describe, expect, test } from 'vitest';
import { barText, differenceCell, differenceOf, numberText, shareColumns } from '../../src/output/columns.ts';
import { onePet, planQuestion } from '../../src/output/preview.ts';
import { harmless, liveWidth, plainPaint, wipeDrawn } from '../../src/output/terminal.ts';
import { bulkRow } from './fixtures.ts';

const staging = { store: undefined, env: 'staging' } as const;

test.each([
  [0, '0%', 0],
  [0.001, '<1%', 0],
  [0.01, '1%', 0],
  [0.5, '50%', 5],
  [0.999, '99%', 9],
  [1, '100%', 10],
  [1.5, '100%', 10],
])('formats the share %d as %s, with a bar of %i', (share, percent, full) => {
  const [text, bar] = shareColumns('Used', () => 'green').map(({ cell }) => cell?.(share, {}, plainPaint));
  expect([text, bar]).toEqual([percent, '█'.repeat(full) + '░'.repeat(10 - full)]);
  const [none, empty] = shareColumns('Used', () => 'green').map(({ cell }) => cell?.(null, {}, plainPaint));
  expect([none, empty]).toEqual(['', '']);
});

test('draws an empty bar for a negative share, and a full bar for a share above 1', () => {
  expect([-1, 0.29, 2].map((share) => barText(share, 4, plainPaint, 'cyan'))).toEqual(['░░░░', '█░░░', '████']);
});

test.each([
  [3, 5, 2n, '+2'],
  [5, 3, -2n, '-2'],
  [3, 3, null, ''],
  [undefined, 3, null, ''],
  [3, undefined, null, ''],
  [0, 1200, 1200n, '+1,200'],
])('computes the difference from %s to %s', (before, after, difference, shown) => {
  expect(differenceOf(before, after)).toBe(difference);
  expect(differenceCell(difference, {}, plainPaint)).toBe(shown);
});

test.each([
  [1200, '1,200'],
  [-1200n, '-1,200'],
  ['1200', '1200'],
  [null, ''],
])('formats the number %s as "%s"', (value, text) => expect(numberText(value)).toBe(text));

describe('the question about a plan', () => {
  const one = bulkRow(4n, 39, 12);
  const two = bulkRow(5n, 3, 4);
  const earlier = 'stock.csv was applied at 02:03 by run x7k2';
  test.each<[string, Parameters<typeof planQuestion>[0], Parameters<typeof planQuestion>[2], string]>([
    ['one change', [one], { verb: 'Write' }, 'Pet 4 Rex in staging: 39 → 12 (-27). Write this change?'],
    [
      'one change to undo',
      [one, bulkRow(6n, 1, 1, { result: 'unchanged' })],
      { verb: 'Undo', facts: ['as it was'] },
      'Pet 4 Rex in staging: 39 → 12 (-27), as it was. Undo this change?',
    ],
    [
      'several changes',
      [one, two],
      { verb: 'Write', facts: ['a', 'b'] },
      'Write 2 changes to staging, a, b? Units: 1 added, 27 removed.',
    ],
    ['several changes to undo', [one, two], { verb: 'Undo' }, 'Undo 2 changes in staging? Units: 1 added, 27 removed.'],
    [
      'a file that was applied before',
      [one],
      { verb: 'Write', earlier },
      `Apply 1 change to staging AGAIN? ${earlier}. Units: 27 removed.`,
    ],
    ['no change', [], { verb: 'Write' }, 'Write 0 changes to staging?'],
  ])('words the question about %s', (_what, rows, intention, question) => {
    const names = new Map([[4n, 'Rex']]);
    expect(planQuestion(rows, staging, intention, names)).toEqual({ question, words: [] });
  });

  test('omits a name with punctuation from the question, and returns it after the reason', () => {
    const names = new Map([[4n, 'a: b']]);
    expect(planQuestion([one], staging, { verb: 'Write', words: ['a reason'] }, names)).toEqual({
      question: 'Pet 4 in staging: 39 → 12 (-27). Write this change?',
      words: ['a reason', 'a: b'],
    });
  });

  test.each([
    [1, 1200, '1 → 1,200 (+1,199)'],
    [3, 3, '3 → 3 (0)'],
    [undefined, 3, '? → 3'],
    [3, undefined, '? → ?'],
  ])('shows the change of one pet in a question, from %s to %s', (before, after, change) => {
    expect(onePet(bulkRow(7n, before, after), staging)).toBe(`Pet 7 in staging: ${change}`);
  });
});

describe('what is sent to a terminal', () => {
  const up = '\x1b[A\x1b[K';
  test.each([
    [0, 80, 0],
    [80, 80, 0],
    [81, 80, 1],
    [10, 0, 8],
    [10_000, 80, 8],
  ])('clears a line of %i columns in a window of %i with %i rows above', (drawn, columns, rows) => {
    expect(wipeDrawn(drawn, columns)).toBe(`\r\x1b[K${up.repeat(rows)}`);
  });

  test('leaves three columns free in a live line, but uses at least one', () => {
    expect([liveWidth(), liveWidth(10), liveWidth(3), liveWidth(0)]).toEqual([77, 7, 1, 1]);
  });

  test.each([
    ['\x07', '\x07'],
    ['a\x07', 'a'],
    ['a\tb\n', 'a\tb\n'],
    ['\x1b[31ma\x1b[39m', '\x1b[31ma\x1b[39m'],
    [`\r\x1b[K${up}a`, `\r\x1b[K${up}a`],
  ])('passes %j on to a terminal as %j', (text, passed) => expect(harmless(text)).toBe(passed));
});
