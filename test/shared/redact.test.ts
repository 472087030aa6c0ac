import { expect, test } from 'vitest';
import { redactorOf } from '../../src/shared/sanitize.ts';
import fc, { property } from '../support/properties.ts';

test.each([
  ['as it is', 'sk/live+7Fq2~', 'the key sk/live+7Fq2~.'],
  ['in other letters', 'sk/live+7Fq2~', 'the key SK/Live+7fq2~.'],
  ['in a URL', 'sk/live+7Fq2~', 'the key sk%2Flive%2B7Fq2~.'],
  ['in a URL with small letters', 'sk/live+7Fq2~', 'the key sk%2flive%2b7Fq2~.'],
  ['in base64', 'sk/live+7Fq2~', 'the key c2svbGl2ZSs3RnEyfg.'],
  ['in JSON', 'a"b\\c/d', 'the key a\\"b\\\\c/d.'],
])('removes a key that is written %s', (_how, key, text) => {
  expect(redactorOf([key])(text)).toBe('the key [key].');
});

test('removes each of several keys from a text, and nothing else', () => {
  const redact = redactorOf(['psk_test_9Ab4', 'psk_live_7Fq2', 'psk_live_7Fq2_longer', 'abc']);
  expect(redact('psk_test_9Ab4, psk_live_7Fq2_longer or psk_live_7Fq2')).toBe('[key], [key] or [key]');
  expect(redact('abc, 50 % of them sold')).toBe('abc, 50 % of them sold');
});

const key = fc.string({ minLength: 16, maxLength: 40 });
const around = fc.string({ maxLength: 20 }).filter((text) => !text.includes('[key]'));

property(
  'leaves no form of a key in a text, and the rest as it was',
  [key, around, around],
  (secret, before, after) => {
    fc.pre(!`${before}${after}`.toLowerCase().includes(secret.toLowerCase()));
    const forms = [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)];
    for (const form of forms)
      expect(redactorOf([secret])(`${before}\n${form}\n${after}`)).toBe(`${before}\n[key]\n${after}`);
  },
);
