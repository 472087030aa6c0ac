import { describe, expect, it, test } from 'vitest';
import { createPaint } from '../../src/output/terminal.ts';
import { padEnd, padStart, truncate, visibleWidth, wrap } from '../../src/output/text-width.ts';
import { singleLine, stripControls, stripControlsFromBody } from '../../src/shared/sanitize.ts';
import fc, { property } from '../support/properties.ts';

describe('stripControls', () => {
  test.each([
    ['plain é 猫 😀', 'plain é 猫 😀'],
    ['\x1b[31mred\x1b[0m', 'red'],
    ['\x1b[38;5;1;2mred', 'red'],
    ['\x9b31mred', 'red'],
    ['\x1b]0;title\x07text', 'text'],
    ['\x1b]8;;https://evil.test\x1b\\link\x1b]8;;\x1b\\', 'link'],
    ['\x9d0;title\x9ctext', 'text'],
    ['\x1bP1;2|payload\x1b\\text', 'text'],
    ['\x1b]0;never closed', '0;never closed'],
    ['\x1bcreset', 'reset'],
    ['\x1b(Bcharset', 'charset'],
    ['\x1b\x1b[2J[2J', '[2J'],
    ['lone \x1b', 'lone '],
    ['a\x00b\x08c\x7fd\x85e', 'abcde'],
    ['a\r\n\tb', 'ab'],
    ['\u202eevil\u202c \u2066x\u2069', 'evil x'],
  ])('strips control characters from %j', (text, expected) => expect(stripControls(text)).toBe(expected));

  const text = fc.string({ unit: fc.constantFrom(...'\x1b\x9b\x9d\x9c\x90\x07[]\\;0m(P\n\t\u202ea') });

  property('strips all terminal controls, and changes nothing on a second pass', [text], (value) => {
    const clean = stripControls(value);
    expect(clean).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
    expect(stripControls(clean)).toBe(clean);
    expect(singleLine(value)).not.toMatch(/[\x00-\x1f\x7f-\x9f\u2028\u2029]/);
    expect(stripControlsFromBody(value)).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
  });

  test.each(['\x1b]', '\x9d', '\x1b[0', '\x9b', '\x1b[0;', '\x1b ', '\t\n', ' '])(
    'strips control characters from 200,000 repetitions of %j',
    (part) => {
      expect(stripControls(part.repeat(200_000))).not.toContain('\x1b');
      expect(singleLine(`${part.repeat(200_000)}\x00`)).not.toContain('\x1b');
    },
  );
});

test('keeps line ends and tabs in a body', () => {
  expect(stripControlsFromBody('a\tb\r\nc\x1b[2J\u202ed\n')).toBe('a\tb\ncd\n');
});

test.each([
  ['a\nb', 'a b'],
  ['a\r\n\t b', 'a b'],
  ['a  b', 'a  b'],
  ['a\u2028b\x85c', 'a b c'],
  ['a\x1b[31m\nb', 'a b'],
])('writes %j on a single line', (text, expected) => expect(singleLine(text)).toBe(expected));

describe('widths', () => {
  test.each([
    ['', 0],
    ['abc', 3],
    ['\x1b[31mabc\x1b[39m', 3],
    ['猫', 2],
    ['e\u0301', 1],
    ['👩‍👩‍👧', 2],
    ['\u200b', 0],
    ['한글', 4],
  ])('measures %j as %i columns wide', (text, width) => expect(visibleWidth(text)).toBe(width));

  test.each([
    ['available', 9, 'available'],
    ['available', 5, 'avai…'],
    ['available', 1, '…'],
    ['available', 0, ''],
    ['猫猫猫', 5, '猫猫…'],
    ['猫猫猫', 4, '猫…'],
    ['\x1b[32mavailable\x1b[39m', 5, '\x1b[32mavai…\x1b[39m'],
    ['\x1b[1ma\x1b[22mbc', 2, '\x1b[1ma\x1b[22m…'],
  ])('truncates %j to %i columns', (text, width, expected) => expect(truncate(text, width)).toBe(expected));

  test.each([
    ['one two three', 7, ['one two', 'three']],
    ['one two three', 5, ['one', 'two', 'three']],
    ['abcdefgh', 3, ['abc', 'def', 'gh']],
    ['猫猫', 1, ['猫', '猫']],
    ['ab c', -3, ['a', 'b', 'c']],
    ['', 5, ['']],
    ['one two ', 4, ['one', 'two ']],
    ['😀', 1, ['😀']],
  ])('wraps %j to %i columns', (text, width, lines) => expect(wrap(text, width)).toEqual(lines));

  it('wraps 50,000 words', () => {
    expect(wrap('猫 '.repeat(50_000), 10)).toHaveLength(16_667);
    expect(wrap('e\u0301'.repeat(50_000), 10)).toHaveLength(5000);
  });

  it('truncates, wraps and pads text to the width, and loses text only by truncating', async () => {
    const { red } = await createPaint(true);
    const text = fc.string({ unit: fc.constantFrom('a', 'b ', '猫', 'é', '😀', 'e\u0301') });
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 30 }), (value, width) => {
        expect(visibleWidth(truncate(value, width))).toBeLessThanOrEqual(width);
        expect(truncate(red(value), width)).toBe(red(truncate(value, width)));
        expect(wrap(value, width).every((line) => visibleWidth(line) <= width)).toBe(true);
        expect(wrap(value, width).join('').replaceAll(' ', '')).toBe(value.replaceAll(' ', ''));
        expect(visibleWidth(padEnd(red(value), width))).toBe(Math.max(width, visibleWidth(value)));
        expect(padStart(value, width).endsWith(value)).toBe(true);
      }),
    );
  });
});
