import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { sha256 } from '../../src/shared/sha256.ts';
import fc, { property } from '../support/seeded-fast-check.ts';

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
