import { describe, expect, it, test } from 'vitest';
import { addDelta, parseDelta, parsePetId, parseQuantity } from '../../src/inventory/items.ts';
import { quoted } from '../../src/shared/parsed.ts';
import fc, { anyText, property } from '../support/properties.ts';

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

function faultOf(result: { readonly ok: boolean; readonly problem?: string }): string | undefined {
  return result.ok ? undefined : result.problem;
}

const parsers = { parsePetId, parseQuantity, parseDelta };
type Parser = keyof typeof parsers;

test.each<readonly [Parser, string, bigint | number]>([
  ['parsePetId', '007', 7n],
  ['parsePetId', `-${'0'.repeat(30)}7`, -7n],
  ['parsePetId', '9223372036854775807', 9223372036854775807n],
  ['parsePetId', '-9223372036854775808', -9223372036854775808n],
  ['parseDelta', '5', 5],
  ['parseDelta', '+0', 0],
])('%s accepts %s', (name, text, value) => expect(parsers[name](text)).toEqual({ ok: true, value }));

const number = 'a pet id is a whole number such as 42';
const range = 'is out of range: a pet id lies between -9223372036854775808 and 9223372036854775807';
const rounded = 'a program has probably rounded it';
const outOfRange = 'is out of range: a quantity lies between -9007199254740991 and 9007199254740991';

const refusals: readonly (readonly [Parser, string, string | RegExp])[] = [
  ['parsePetId', '', `the pet id is empty: ${number}`],
  ...['1.5', '0x10', '--7', '1_000'].map(
    (text) => ['parsePetId', text, `"${text}" is not a pet id: ${number}`] as const,
  ),
  ['parsePetId', '１', '"１" is not a pet id: use the digits 0 to 9'],
  ['parsePetId', '+7', `"+7" is not a pet id: leave out the plus sign (${number})`],
  ['parsePetId', ' 7', '" 7" is not a pet id: leave out the white space around it'],
  ['parsePetId', '-0', '"-0" is not a pet id: zero has no sign, write 0'],
  ['parsePetId', '1e3', `"1e3" is not a pet id: write out every digit (${number})`],
  ...['1,234', '+1,234', '-1,234'].map((text) => {
    const meant = text.replace(/[+,]/g, '');
    return [
      'parsePetId',
      text,
      `"${text}" is not a pet id: if ${meant} is meant, write it without a separator`,
    ] as const;
  }),
  ['parsePetId', '4.0', '"4.0" is not a pet id: write 4, without decimals'],
  ['parsePetId', '10.000', '"10.000" is not a pet id: it may mean 10 or 10000. Write one of these'],
  ['parsePetId', '675127116845989888.0', /as a decimal number it was probably rounded/],
  ...['1.23E+18', '1,23E+18', '-1E+18'].map((text) => ['parsePetId', text, new RegExp(rounded)] as const),
  ['parsePetId', '12345678901234500000', new RegExp(`${range} \\(${rounded}\\)$`)],
  ['parsePetId', '12345678901234567890', new RegExp(`${range}$`)],
  ...['9223372036854775808', '-9223372036854775809', '9'.repeat(5000)].map((text) => {
    return ['parsePetId', text, new RegExp(range)] as const;
  }),
  ...['9007199254740992', '-9007199254740992', '9'.repeat(400)].map((text) => {
    return ['parseQuantity', text, new RegExp(`${outOfRange}$`)] as const;
  }),
  ['parseQuantity', '+5', '"+5" is not a quantity: leave out the plus sign (a quantity is a whole number such as 12)'],
  ['parseDelta', '-0', /zero/],
  ['parseDelta', '9007199254740992', /range/],
  ['parseDelta', '\u22125', '"\u22125" is not a change: write its minus sign as "-"'],
  ['parseDelta', '+1,200', '"+1,200" is not a change: if +1200 is meant, write it without a separator'],
];
test.each(refusals.map(([name, text, fault]) => [name, text.slice(0, 60), text, fault] as const))(
  '%s refuses %j',
  (name, _start, text, fault) => {
    const told = typeof fault === 'string' ? fault : expect.stringMatching(fault);
    expect(parsers[name](text)).toEqual({ ok: false, problem: told });
  },
);

property('reads back every int64 with parsePetId', [int64], (id) => {
  expect(parsePetId(`${id}`)).toEqual({ ok: true, value: id });
});

describe('parseQuantity, parseDelta and addDelta', () => {
  const safe = fc.maxSafeInteger();

  test.each(Object.entries(parsers))('%s refuses every text that is not an integer', (_name, parse) => {
    const notInteger = fc
      .oneof(anyText(), fc.string({ unit: fc.constantFrom(...'0159+-.eE, x１\t\u00a0') }))
      .filter((text) => !/^[+-]?\d+$/.test(text));
    fc.assert(
      fc.property(notInteger, (text) => {
        const fault = faultOf(parse(text));
        expect(fault).toMatch(/^[^\p{Cc}\u202a-\u202e]{1,250}[^.]$/u);
      }),
    );
  });

  property('reads back every quantity and every delta', [safe], (value) => {
    expect(parseQuantity(`${value}`)).toEqual({ ok: true, value });
    expect(parseDelta(value < 0 ? `${value}` : `+${value}`)).toEqual({ ok: true, value });
  });

  it('adds a delta exactly or refuses it', () => {
    fc.assert(
      fc.property(safe, safe, (quantity, delta) => {
        const exact = BigInt(quantity) + BigInt(delta);
        const sum = addDelta(quantity, delta);
        if (sum.ok) expect(BigInt(sum.value)).toBe(exact);
        else expect(exact > Number.MAX_SAFE_INTEGER || exact < Number.MIN_SAFE_INTEGER).toBe(true);
      }),
    );
    expect(faultOf(addDelta(Number.MAX_SAFE_INTEGER, 1))).toBe(
      'the stock is 9007199254740991, and +1 would take it out of range: a quantity lies between -9007199254740991 and 9007199254740991',
    );
    expect(addDelta(5, -5)).toEqual({ ok: true, value: 0 });
  });
});

test.each([
  ['a', '"a"'],
  ['', '""'],
  ['\x1b[31m\r\n', '"<U+001B>[31m<U+000D><U+000A>"'],
  ['\u202egnp', '"<U+202E>gnp"'],
  ['4\u200b2', '"4<U+200B>2"'],
  ['👩‍👧 ❤️', '"👩‍👧 ❤️"'],
  ['a\u200db', '"a<U+200D>b"'],
  ['x'.repeat(40), `"${'x'.repeat(40)}"`],
  ['x'.repeat(41), `"${'x'.repeat(39)}…"`],
  ['😀'.repeat(41), `"${'😀'.repeat(39)}…"`],
])('quotes the text %j', (text, expected) => expect(quoted(text)).toBe(expected));

test.each([
  ['1,200', 'if 1200 is meant, write it without a separator'],
  ['1 234 567', 'if 1234567 is meant, write it without a separator'],
  ['12.0', 'write 12, without decimals'],
  ['10.000', 'it may mean 10 or 10000. Write one of these'],
  ['-1,000', 'it may mean -1 or -1000. Write one of these'],
  ['10,000.00', 'write 10000, without decimals'],
  ['1\u200b2', "remove U+200B, which can't be seen"],
])('explains how to write a quantity or delta that has separators or decimals: %s', (text, advice) => {
  expect(parseQuantity(text)).toEqual({ ok: false, problem: `${quoted(text)} is not a quantity: ${advice}` });
  expect(parseDelta(text)).toEqual({ ok: false, problem: `${quoted(text)} is not a change: ${advice}` });
});

const separators = [',', '.', ' ', "'", '\u202f'].flatMap((mark) => [`0${mark}000`, `12${mark}120${mark}999`]);
const mistyped = ['', '+', '-'].flatMap((sign) => [...separators, '0.0', '7,00'].map((digits) => sign + digits));

test.each(Object.entries(parsers))('%s accepts the spelling that its error suggests', (_name, parse) => {
  for (const text of mistyped) {
    const advised = /(?:if|write) ([+-]?\d+)(?: is meant|, without)/.exec(faultOf(parse(text)) ?? '')?.[1];
    if (advised !== undefined) expect(parse(advised), text).toMatchObject({ ok: true });
  }
});
