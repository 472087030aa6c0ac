import { describe, expect, test } from 'vitest';
import { didYouMean, editDistance, nearest } from '../../src/shared/did-you-mean.ts';
import fc, { property } from '../support/properties.ts';

const environments = ['staging', 'production', 'sandbox'] as const;
const settings = ['default-env', 'confirm', 'low-stock', 'max-changes', 'max-zero', 'output'] as const;

test.each([
  [environments, 'production', ['prod', 'Production', 'prdouction', 'prduktion']],
  [environments, 'staging', ['stage']],
  [environments, 'sandbox', ['sandbxo']],
  [environments, undefined, ['stg', 'live', '', 'p']],
  [settings, 'default-env', ['default_env', 'defaultEnv', 'env']],
  [settings, 'low-stock', ['lowstock']],
  [settings, 'max-zero', ['max-zeros']],
  [settings, 'output', ['ouput']],
  [settings, undefined, ['colour', 'confirmations']],
  [['outputs', 'output', 'out-put-of'], 'output', ['output', 'OUTPUT', 'out_put']],
  [['a.b-c', 'bc-d'], 'a.b-c', ['ab', 'abc']],
])('picks from %j the word %s for each of %j', (words, expected, typed) => {
  for (const word of typed) expect(nearest<string>(word, words), word).toBe(expected);
});

test('asks "Did you mean …?" only if a known word is near', () => {
  expect(didYouMean('prod', environments)).toBe(' Did you mean "production"?');
  expect(didYouMean('live', environments)).toBe('');
});

describe('editDistance', () => {
  const word = fc.stringMatching(/^[abc]{0,6}$/);

  test.each([
    ['', '', 0],
    ['abc', '', 3],
    ['abc', 'acb', 1],
    ['kitten', 'sitting', 3],
  ])('counts the edits between %j and %j: %i', (left, right, distance) =>
    expect(editDistance(left, right)).toBe(distance),
  );

  property(
    'counts the same edits both ways, and at most the length of the longer word',
    [word, word],
    (left, right) => {
      const distance = editDistance(left, right);
      expect(distance).toBe(editDistance(right, left));
      expect(distance === 0).toBe(left === right);
      expect(distance).toBeLessThanOrEqual(Math.max(left.length, right.length));
      expect(distance).toBeGreaterThanOrEqual(Math.abs(left.length - right.length));
    },
  );
});
