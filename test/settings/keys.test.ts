import { expect, test } from 'vitest';
import { maskKey, parseKey } from '../../src/settings/key-and-url.ts';
import fc, { anyText, property } from '../support/properties.ts';

test.each([
  ['psk_abcdef', 'psk_abcdef'],
  ['psk_abcdef\n', 'psk_abcdef'],
  ['  psk_abcdef\r\n', 'psk_abcdef'],
  ['\uFEFFpsk_abcdef', 'psk_abcdef'],
  ['Bearerabc', 'Bearerabc'],
])('reads %j as the key %s', (text, value) => {
  expect(parseKey(text)).toEqual({ ok: true, value });
});

test.each([
  ['', /empty/],
  [' \n', /empty/],
  ['Bearer psk_abcdef', /Bearer/],
  ['bearer', /Bearer/],
  ['Authorization: Bearer psk_abcdef', /Authorization/],
  ['"psk_abcdef"', /quotation/],
  ['psk_abc def', /white space/],
  ['psk_abc\npsk_def', /more than one line/],
  ['psk_abc\u0000', /characters/],
  ['psk_абв', /characters/],
  ['p\u0000s\u0000k\u0000', /characters/],
  ['a'.repeat(5000), /longer than/],
])('refuses the key %j', (text, reason) => {
  const parsed = parseKey(text);
  expect(parsed).toEqual({ ok: false, problem: expect.stringMatching(reason) });
  expect(JSON.stringify(parsed)).not.toContain('psk_');
});

test.each([
  ['psk_abcdef', '…cdef'],
  ['12345678', '…5678'],
  ['1234567', '…'],
  ['', '…'],
])('masks the key %j as %s', (key, masked) => {
  expect(maskKey(key)).toBe(masked);
});

const printable = fc.stringMatching(/^[!-~]{6,80}$/).map((text) => ` ${text}\n`);

property('accepts only keys that fit into an HTTP header', [fc.oneof(anyText(), printable)], (text) => {
  const parsed = parseKey(text);
  if (parsed.ok) expect(new Headers({ authorization: `Bearer ${parsed.value}` }).get('authorization')).toBeTruthy();
});
