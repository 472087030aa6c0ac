import { execFileSync } from 'node:child_process';
import { describe, expect } from 'vitest';
import { didYouMean, editDistance, fileOperand, nearest, petstock, shellWord } from '../../src/shared/hint.ts';
import fc, { property } from '../support/properties.ts';
import { test } from '../support/shop.ts';

test.each([
  ['20260115T120020Z-k3x9', '20260115T120020Z-k3x9'],
  ['/tmp/stock.csv', '/tmp/stock.csv'],
  ['a b', "'a b'"],
  ['$(id)', "'$(id)'"],
  ["it's", "'it'\\''s'"],
  ['', "''"],
])('quotes the word %s as %s', (text, word) => expect(shellWord(text)).toBe(word));

test.each([
  ['-s.csv', './-s.csv'],
  ['--a b.csv', "'./--a b.csv'"],
  ['-', '-'],
  ['/tmp/-s.csv', '/tmp/-s.csv'],
])('quotes the operand %s as %s', (file, word) => expect(petstock`${fileOperand(file)}`).toBe(`petstock ${word}`));

test('quotes words so that a shell gives them back', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 20 });
  const ascii = fc.string({ unit: 'binary-ascii', maxLength: 20 }).filter((word) => !word.includes('\0'));
  const words = fc.sample(fc.oneof(text, ascii), { numRuns: 300, seed: 11 });
  const script = words.map((word) => `printf '%s\\0' ${shellWord(word)}`).join('\n');
  const given = execFileSync('sh', { input: script }).toString('utf8').split('\0').slice(0, -1);
  expect(given).toEqual(words);
});

test.each([
  [petstock`undo ${'$(id)'}`, "petstock undo '$(id)'"],
  [petstock`apply ${['--a', 'b c']} ${[]} ${4}`, "petstock apply --a 'b c' 4"],
  [petstock`${[]} list`, 'petstock list'],
])('builds the command %s', (line, expected) => expect(line).toBe(expected));

test('quotes typed text in hints', async ({ shop }) => {
  const resume = await shop.run(['inventory', 'apply', 'stock.csv', '--resume', '$(id)']);
  expect(resume.stderr).toContain("Hint: petstock inventory apply --resume '$(id)'\n");
  const serve = await shop.run(['sandbox', 'serve', '--host', '10.0.0.1;id']);
  expect(serve.stderr).not.toContain('--host 10.0.0.1;id');
  const key = await shop.run(['config', 'set-key', 'argument', '--url', '`id`']);
  expect(key.stderr).toContain("Hint: petstock config set-key --url '`id`'\n");
});

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
