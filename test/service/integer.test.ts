import { expect, test } from 'vitest';
import { exactInt64 } from '../../src/service/values.ts';
import fc, { property } from '../support/properties.ts';

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

property('reads any int64 exactly', [int64, fc.nat({ max: 30 }), fc.nat({ max: 30 })], (value, zeros, shift) => {
  const text = String(value);
  expect(exactInt64(text)).toBe(value);
  expect(exactInt64(`${text}.${'0'.repeat(zeros + 1)}`)).toBe(value);
  expect(exactInt64(`${text}${'0'.repeat(shift)}e-${shift}`)).toBe(value);
  expect(exactInt64(`${text}${'0'.repeat(shift)}.0E-${shift}`)).toBe(value);
});

const oneToNine = fc.integer({ min: 1, max: 9 });

property(
  'does not read a fraction as an integer, however small it is',
  [int64, fc.nat(40), oneToNine],
  (value, zeros, digit) => {
    expect(exactInt64(`${value}.${'0'.repeat(zeros)}${digit}`)).toBeNull();
  },
);

test.each([
  ['-0e5', 0n],
  ['0.05e2', 5n],
  ['12.50e1', 125n],
  ['1e18', 1_000_000_000_000_000_000n],
  ['1e19', null],
  ['1e99999999999', null],
  ['1e-99999999999999999999', null],
])('reads %s as the int64 %s', (text, expected) => {
  expect(exactInt64(text)).toBe(expected);
});
