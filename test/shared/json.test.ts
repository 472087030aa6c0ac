import { parse } from 'lossless-json';
import { describe, expect, test } from 'vitest';
import { exactJson } from '../../src/output/json-format.ts';
import { isJsonObject, JsonNumber, parseJson, TooManyValues, toInteger } from '../../src/shared/json.ts';
import fc, { property, propertyRuns } from '../support/properties.ts';

describe('toInteger', () => {
  test.each([
    ['0', 0n],
    ['-0', 0n],
    ['9223372036854775807', 9223372036854775807n],
    ['9223372036854775808', 9223372036854775808n],
    ['5.0', 5n],
    ['-0.0', 0n],
    ['5e0', 5n],
    ['5.0E+000', 5n],
    ['1e2', 100n],
    ['1.5e1', 15n],
    ['50e-1', 5n],
    ['0e-5', 0n],
    ['9.223372036854775807e18', 9223372036854775807n],
  ])('reads the integer %s exactly', (text, expected) => expect(toInteger(parseJson(text))).toBe(expected));

  test.each([
    ...'0.5 5.5 -5.5 5.0000000000000001 1.55e1 5e-1 55e-1 1e-2 0.1e0 "5" null true [] {}'.split(' '),
    '{"isLosslessNumber":true,"value":"5","toString":"5"}',
    // Numbers with large exponents are refused at once.
    ...'1e999999999 1e99999999999999999999 -1e9999 5e-999999999'.split(' '),
  ])('does not read %s as an integer', (text) => expect(toInteger(parseJson(text))).toBeUndefined());

  test('does not read undefined or a number of 5,001 digits as an integer', () => {
    expect([undefined, parseJson(`1${'0'.repeat(5000)}`)].map(toInteger)).toEqual([undefined, undefined]);
  });

  const integers = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

  property(
    'reads any int64, wherever its decimal point is',
    [integers, fc.integer({ min: 0, max: 18 }), fc.constantFrom('e', 'E', 'e+')],
    (value, places, e) => {
      const sign = value < 0n ? '-' : '';
      const digits = `${value}`.replace('-', '').padStart(places + 1, '0');
      const at = digits.length - places;
      const fraction = places === 0 ? '' : `.${digits.slice(at)}`;
      expect(toInteger(parseJson(`${sign}${digits.slice(0, at)}${fraction}${e}${places}`))).toBe(value);
      expect(toInteger(parseJson(`${value}${'0'.repeat(value === 0n ? 0 : places)}e-${places}`))).toBe(value);
    },
  );
});

describe('parseJson', () => {
  test.each([
    '',
    ' ',
    '{"a":1} {"a":1}',
    "{'a':1}",
    '"\u0000"',
    '"\\x41"',
    '"\\u12"',
    '\uFEFF{}',
    '{"a":1,"a":2}',
    '{"a":{"b":1},"a":{"b":2}}',
    ...'{ [1, {"a": {"a":1,} [1,] "half NaN Infinity undefined 01 +1 .5 5. <html></html>'.split(' '),
  ])('throws a SyntaxError for %j', (text) => expect(() => parseJson(text)).toThrow(SyntaxError));

  test.each([
    ['[1,', 'Unexpected end at position 3'],
    ['[1,}', 'Unexpected character at position 3'],
  ])('explains what is wrong with %j', (text, fault) => expect(() => parseJson(text)).toThrow(fault));

  test.each([
    ['arrays', '['.repeat(100_000)],
    ['arrays that are closed', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['objects', '{"a":'.repeat(100_000)],
  ])('throws a SyntaxError for 100,000 levels of %s', (_what, text) =>
    expect(() => parseJson(text)).toThrow(SyntaxError),
  );

  const pieces = fc.constantFrom(...'[]{},:"0-9.eE+ \t\\', '"a"', '"b":', '1.50', 'true', 'null', '\\u00e9', '\\"');
  const texts = fc.oneof(
    fc.string(),
    fc.json(),
    fc.json().map((text) => JSON.stringify(JSON.parse(text), undefined, 1)),
    fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join('')),
    fc.tuple(fc.json(), fc.nat(40), pieces).map(([text, at, piece]) => text.slice(0, at) + piece + text.slice(at)),
  );
  const readBy = (read: (text: string) => unknown, text: string) => {
    try {
      return exactJson(read(text));
    } catch (error) {
      expect(error).toBeInstanceOf(SyntaxError);
      return undefined;
    }
  };

  property('reads or rejects any text like lossless-json', [texts], propertyRuns(200), (text) => {
    expect(readBy(parseJson, text)).toBe(
      readBy((json) => parse(json, undefined, (digits) => new JsonNumber(digits)), text),
    );
  });

  test('reads a text of 15 MB, and refuses a million values', () => {
    expect(parseJson(`"${'x'.repeat(15e6)}"`)).toHaveLength(15e6);
    expect(() => parseJson(`[${'1,'.repeat(1e6)}1]`)).toThrow(TooManyValues);
    const names = Array.from({ length: 50_001 }, (_, index) => `"${index}":0`);
    expect(() => parseJson(`{${names}}`)).toThrow(TooManyValues);
    expect(() => parseJson(`[${names.map((name) => `{${name}}`)}]`)).toThrow(TooManyValues);
    expect(parseJson(`[${names.map(() => '{"id":0}')}]`)).toHaveLength(50_001);
    expect(Object.keys(parseJson(`{${names.slice(1)}}`) as object)).toHaveLength(50_000);
  });
});

test.each([
  ['an escaped lone surrogate', '"\\ud800"', '\ud800'],
  ['an escaped pair', '"\\ud83d\\udc31"', '🐱'],
  ['control characters that are escaped', '"\\u001b[2J"', '\u001b[2J'],
])('reads strings with %s', (_what, text, expected) => expect(parseJson(text)).toBe(expected));

describe('JSON objects', () => {
  test('accepts a name that appears twice with the same value', () => {
    expect(parseJson('{"a":"x","a":"x"}')).toEqual({ a: 'x' });
  });

  test('treats __proto__ as a name like any other', () => {
    const value = parseJson('{"__proto__":{"petId":1}}');
    expect(isJsonObject(value) && Object.hasOwn(value, '__proto__')).toBe(true);
    expect(isJsonObject(value) && value.petId).toBeUndefined();
  });

  test.each(['{}', '{"isLosslessNumber":true}'])('recognizes a JSON object: %s', (text) =>
    expect(isJsonObject(parseJson(text))).toBe(true),
  );

  test.each(['[]', '5', 'null', '"{}"', 'true'])('recognizes that %s is not a JSON object', (text) => {
    expect(isJsonObject(parseJson(text))).toBe(false);
  });
});
