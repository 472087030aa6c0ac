import { expect, test } from 'vitest';
import { articleOf, hasCheckDigit, knownCode, petOfText } from '../../src/inventory/bar-codes.ts';
import { codesOf } from '../change-files/reading.ts';
import fc, { property } from '../support/properties.ts';

/** A GTIN of a single unit: 12 random digits and their check digit, as EAN-13. */
const ean13 = fc.integer({ min: 10 ** 6, max: 10 ** 12 - 1 }).map((number) => {
  const digits = `${number}`.padStart(12, '0');
  const check = [...'0123456789'].find((digit) => hasCheckDigit(digits + digit));
  return `${digits}${check}`;
});

/** Ways to print, scan or store one article number. */
const spellings: readonly ((ean: string) => string)[] = [
  (ean) => ean,
  (ean) => `0${ean}`,
  (ean) => ean.replace(/^0/, ''),
  (ean) => ean.replace(/^0+/, ''),
  (ean) => `]E0${ean}`,
  (ean) => `(01)0${ean}`,
  (ean) => `(01)0${ean}(10)LOT-7`,
  (ean) => `010${ean}`,
  (ean) => `]C1010${ean}10AB`,
  (ean) => `]d2010${ean}17251231`,
];
const spelling = fc.constantFrom(...spellings);

property(
  'finds the code of an article by each of its spellings',
  [ean13, spelling, spelling],
  async (ean, stored, scanned) => {
    const codes = await codesOf(`${stored(ean)},4`, 'X-1,5');
    expect(petOfText(codes, scanned(ean))).toBe(4n);
  },
);

property(
  'keeps two articles apart, however they are spelled',
  [ean13, ean13, spelling, spelling],
  async (one, other, stored, scanned) => {
    fc.pre(one.replace(/^0+/, '') !== other.replace(/^0+/, ''));
    expect(knownCode(await codesOf(`${stored(one)},4`), scanned(other))).toBe(undefined);
  },
);

test.each([
  ['007', '7', false],
  ['12345', '012345', false],
  ['123456', '0123456', true],
  ['4006381333931', '14006381333938', false],
  ['AB-123456', '0AB-123456', false],
  ['0123456', ']A0123456', true],
])('reads %s for %s: %s', async (stored, scanned, isFound) => {
  expect(knownCode(await codesOf(`${stored},4`), scanned)).toBe(isFound ? stored : undefined);
});

test('prefers the same text, and takes no article that means two pets', async () => {
  const codes = await codesOf('0123456,4', '123456,5');
  expect(['0123456', '123456', '00123456'].map((text) => petOfText(codes, text))).toEqual([4n, 5n, undefined]);
  expect(articleOf('12')).toBe(undefined);
});
