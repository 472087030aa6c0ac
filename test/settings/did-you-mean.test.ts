import { expect, test } from 'vitest';
import { didYouMean, nearest } from '../../src/settings/did-you-mean.ts';

const environments = ['staging', 'production', 'sandbox'] as const;
const settings = ['default-env', 'confirm', 'low-stock', 'max-changes', 'max-zero', 'output'] as const;

test.each([
  ['prod', 'production'],
  ['Production', 'production'],
  ['prdouction', 'production'],
  ['stage', 'staging'],
  ['stg', undefined],
  ['sandbxo', 'sandbox'],
  ['live', undefined],
  ['', undefined],
  ['p', undefined],
])('environment %j: %s', (word, expected) => {
  expect(nearest(word, environments)).toBe(expected);
});

test.each([
  ['default_env', 'default-env'],
  ['defaultEnv', 'default-env'],
  ['env', 'default-env'],
  ['lowstock', 'low-stock'],
  ['max-zeros', 'max-zero'],
  ['ouput', 'output'],
  ['colour', undefined],
])('setting %j: %s', (word, expected) => {
  expect(nearest(word, settings)).toBe(expected);
});

test('in words', () => {
  expect(didYouMean('prod', environments)).toBe(' Did you mean "production"?');
  expect(didYouMean('live', environments)).toBe('');
});
