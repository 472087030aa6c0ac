import { expect, test } from 'vitest';
import { helpText, wrapLong } from '../../src/output/help-text.ts';

const terms = { '--env <name>': 'the environment, such as staging', '-q': '' };

test.each([
  [[], 50, []],
  [['one two three', 'four'], 9, ['one two', 'three', '', 'four']],
  [[{ lines: ['petstock inventory list', ' x'] }], 9, ['petstock inventory list', ' x']],
  [[{ terms }], 60, ['  --env <name>  the environment, such as staging', '  -q']],
  [[{ terms }], 46, ['  --env <name>  the environment, such as', '                staging', '  -q']],
  [[{ terms }], 45, ['  --env <name>', '    the environment, such as staging', '  -q', '    ']],
  [[{ terms, indent: 0 }], 44, ['--env <name>  the environment, such as', '              staging', '-q']],
])('lays out the help %j in %i columns', (parts, width, lines) => {
  expect(helpText(parts, width)).toBe(`${lines.join('\n')}\n`);
});

test.each([
  ['one two', 7, 'one two'],
  ['one two three', 12, 'one two\nthree'],
  ['  one two three', 12, '  one two\n  three'],
  ['  petstock inventory list', 12, '  petstock inventory list'],
  ['# a comment of a command', 12, '# a comment of a command'],
  ['a # b c d e f g', 8, 'a # b c\nd e f g'],
])('wraps %j at %i columns', (text, width, wrapped) => {
  expect(wrapLong(text, width)).toBe(wrapped);
});
