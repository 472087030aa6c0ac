import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { bearerToken, generateKey } from '../../src/service/key.ts';
import { addressBuckets } from '../../src/service/limits/admission.ts';
import { exactInt64, parseQuantity, readInt64 } from '../../src/service/values.ts';
import { NOON } from './support.ts';

describe('keys', () => {
  test.each([
    ['Bearer abc', 'abc'],
    ['bEARER   a b ', 'a b'],
    ['Bearer', null],
    ['Bearer ', null],
    ['Bearerabc', null],
    ['Basic abc', null],
    ['xBearer abc', null],
    ['Bearer a\nb', null],
    [undefined, null],
  ])('reads the bearer token of the Authorization header %j as %j', (field, token) => {
    expect(bearerToken(field)).toBe(token);
  });

  test('generates keys with a checksum', () => {
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    const keys = Array.from({ length: 50 }, generateKey);
    expect(new Set(keys).size).toBe(50);
    for (const key of keys) {
      const [, random = '', sum = ''] = /^psk_(\w{30})(\w{6})$/.exec(key) ?? [];
      expect([...sum].reduce((value, digit) => value * 62 + digits.indexOf(digit), 0)).toBe(crc32(random));
    }
  });
});

describe('values of requests', () => {
  test.each<[string, bigint | null]>([
    ['9223372036854775807', 2n ** 63n - 1n],
    ['9223372036854775808', null],
    ['-9223372036854775808', -(2n ** 63n)],
    ['-9223372036854775809', null],
    ['1e18', 10n ** 18n],
    ['1e19', null],
    ['0.00e5', 0n],
    ['12.50e1', 125n],
    ['12.5', null],
    ['1200e-2', 12n],
    ['1200e-3', null],
    ['1e999999999', null],
    ['x1', null],
    ['1x', null],
    ['', null],
  ])('reads the number %s as the int64 %s', (text, value) => expect(exactInt64(text)).toBe(value));

  test.each<[string, bigint | null]>([
    ['0', 0n],
    ['-7', -7n],
    ['9223372036854775807', 2n ** 63n - 1n],
    ['-9223372036854775808', -(2n ** 63n)],
    ...['-0', '07', '7x', 'x7', '+7', '', '9223372036854775808', '-9223372036854775809', '10000000000000000000'].map(
      (text) => [text, null] as [string, null],
    ),
  ])('reads the petId of the path %j as %s', (text, petId) => {
    expect(readInt64(text)).toBe(petId);
  });

  const bounds = { min: -1n, max: 9n };
  test.each([
    ['[1]', 'invalid_body', 'The body must be a JSON object with the field quantity.'],
    ['{}', 'missing_quantity', 'The field quantity is required.'],
    ['{"toString":1}', 'missing_quantity', 'The field quantity is required.'],
    ['{"quantity":"5"}', 'invalid_quantity', 'quantity must be a 64-bit integer.'],
    ['{"quantity":-2}', 'invalid_quantity', 'quantity must be at least -1.'],
    ['{"quantity":10}', 'invalid_quantity', 'quantity must be at most 9.'],
    ['{"quantity":5', 'invalid_json', 'The body is not valid JSON.'],
  ])('refuses the update %s with %s', (body, code, message) => {
    expect(() => parseQuantity(body, bounds)).toThrow(expect.objectContaining({ status: 400, code, message }));
  });

  test.each([
    ['-1', bounds],
    ['9', bounds],
    ['-2', { min: null, max: null }],
    ['10', { min: null, max: null }],
  ])('accepts the quantity %s within %o', (quantity, within) => {
    expect(parseQuantity(`{"quantity":${quantity},"note":1}`, within)).toBe(BigInt(quantity));
  });
});

describe('requests per address', () => {
  test('limits the requests of each address separately, and starts over in the next window', () => {
    const buckets = addressBuckets(60_000);
    const ask = (address: string, at = NOON) => buckets.admit(address, at).outcome;
    for (let asked = 0; asked < 600; asked += 1) expect(ask('a')).toBe('admitted');
    expect([ask('a'), ask('b')]).toEqual(['limited', 'admitted']);
    expect(buckets.peek('a', NOON)).toEqual({ limit: 600n, remaining: 0n, resetAt: NOON + 60_000 });
    expect(buckets.peek('c', NOON)).toMatchObject({ remaining: 600n });
    expect(ask('a', NOON + 60_000)).toBe('admitted');
  });

  test('forgets the oldest of 10,000 addresses when another address comes', () => {
    const buckets = addressBuckets(60_000);
    const left = (address: string) => buckets.peek(address, NOON).remaining;
    for (let at = 0; at < 10_000; at += 1) buckets.admit(`${at}`, NOON);
    buckets.admit('9999', NOON);
    expect([left('0'), left('1'), left('9999')]).toEqual([599n, 599n, 598n]);
    buckets.admit('new', NOON);
    expect([left('0'), left('1'), left('new')]).toEqual([600n, 599n, 599n]);
  });
});
