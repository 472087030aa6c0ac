import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { randomBytes, sha256 } from '../../src/shared/light-crypto.ts';
import fc, { property } from '../support/seeded-fast-check.ts';

test.each([
  ['the device of the system', undefined],
  ['no device', '/nonexistent/urandom'],
])('%s: each draw is another', (_case, device) => {
  const draws = Array.from({ length: 1000 }, () => randomBytes(6, device).toString('hex'));
  expect(new Set(draws).size).toBe(1000);
  expect(draws.every((draw) => draw.length === 12)).toBe(true);
});

test('a file in the place of the device is not believed', () => {
  expect(randomBytes(6, import.meta.filename).toString()).not.toBe('import');
});

const byNode = (text: string) => createHash('sha256').update(text).digest('hex');

test('a text of any length has the hash that Node has for it', () => {
  // One block takes 55 bytes, two take 119.
  for (let length = 0; length <= 200; length += 1) {
    const text = 'x'.repeat(length);
    expect(sha256(text)).toBe(byNode(text));
  }
});

const text = fc.string({
  unit: fc.oneof(fc.constantFrom('é', '⁹', '😀', '\ud800', '\0'), fc.string({ maxLength: 40 })),
});

property('any text has the hash that Node has for it', [text], (each) => sha256(each) === byNode(each));
