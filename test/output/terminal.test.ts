import { expect, test } from 'vitest';
import { type ColorSources, createPaint, plainPaint, wantsColor } from '../../src/output/terminal.ts';

test.each<[flag: ColorSources['flag'], env: Readonly<Record<string, string>>, isTerminal: boolean, expected: boolean]>([
  [undefined, {}, true, true],
  [undefined, {}, false, false],
  ['auto', {}, true, true],
  ['auto', {}, false, false],
  ['always', { FORCE_COLOR: '0', NO_COLOR: '1', TERM: 'dumb' }, false, true],
  ['never', { FORCE_COLOR: '1' }, true, false],
  [undefined, { FORCE_COLOR: '1', NO_COLOR: '1', TERM: 'dumb' }, false, true],
  [undefined, { FORCE_COLOR: '' }, false, false],
  [undefined, { FORCE_COLOR: '', NO_COLOR: '1' }, true, false],
  [undefined, { FORCE_COLOR: '1', CLICOLOR: '0' }, false, true],
  [undefined, { NO_COLOR: '1', CLICOLOR_FORCE: '1' }, true, false],
  [undefined, { CLICOLOR_FORCE: '1', CLICOLOR: '0', TERM: 'dumb' }, false, true],
  [undefined, { CLICOLOR_FORCE: '0' }, false, false],
  [undefined, { CLICOLOR_FORCE: '' }, false, false],
  [undefined, { CLICOLOR: '0' }, true, false],
  [undefined, { CLICOLOR: '1' }, false, false],
  [undefined, { FORCE_COLOR: '3' }, false, true],
  [undefined, { FORCE_COLOR: '0' }, true, false],
  [undefined, { FORCE_COLOR: 'false' }, true, false],
  [undefined, { NO_COLOR: '1' }, true, false],
  [undefined, { NO_COLOR: '0' }, true, false],
  [undefined, { NO_COLOR: '' }, true, true],
  [undefined, { TERM: 'dumb' }, true, false],
  [undefined, { TERM: 'xterm' }, true, true],
])('decides on colour by --color %s, %j, a terminal: %s; colour: %s', (flag, env, isTerminal, expected) => {
  expect(wantsColor({ ...(flag !== undefined && { flag }), env, isTerminal })).toBe(expected);
});

test('returns text unchanged without colour', async () => {
  expect(await createPaint(false)).toBe(plainPaint);
  expect(plainPaint.bold('x')).toBe('x');
});
