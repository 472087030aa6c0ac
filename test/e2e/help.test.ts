import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { allHelp } from '../../src/cli/help-texts.ts';
import { runProgram } from '../support/program.ts';
import { openShop } from '../support/shop.ts';

const shown = (about: string) => async (columns: number) => (await allHelp(columns))[about];

test.each([
  ['', shown('')],
  ['--help', shown('')],
  ['-h', shown('')],
  ['help', shown('')],
  ['help help', shown('help')],
  ['help --help', shown('help')],
  ['help files', shown('topic:files')],
  ['help undo', shown('undo')],
  ['inventory --help', shown('inventory')],
  ['inventory list -h', shown('inventory list')],
  ['help inventory list', shown('inventory list')],
])('petstock %s is that of the sources', async (line, text) => {
  const { code, stdout, stderr } = await runProgram(line);
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: await text(80), stderr: '' });
});

test.each([
  ['"inventory list" as one word', ['inventory list', '--help']],
  ['a name of every object', ['constructor', '--help']],
  ['a topic that is no command', ['files', '--help']],
  ['no such command', ['help', 'inventory', 'lst']],
  ['a key of the built texts', ['help', 'topic:files']],
  ['an option whose value it is', ['--env', '--help']],
  ['an operand', ['inventory', 'get', '4', '--help']],
])('help with %s on the line is what the program makes of it', async (_what, words) => {
  const shop = await openShop();
  const { code, stdout } = await runProgram(words);
  const fromSources = await shop.run(words);
  expect({ code, stdout }).toEqual({ code: fromSources.code, stdout: fromSources.stdout });
});

test.each([140, 80, 61])('on a terminal of %i columns help has its width', async (columns) => {
  const { code, stdout } = await runProgram('inventory apply --help', { terminal: columns });
  const text = await shown('inventory apply')(Math.min(columns, 100));
  expect({ code, stdout: stripVTControlCharacters(stdout).replaceAll('\r\n', '\n') }).toEqual({
    code: 0,
    stdout: text,
  });
});

test('help on a full disk is an error', async () => {
  const through = ['sh', '-c', 'exec "$@" >/dev/full', 'sh'];
  const { code, stderr } = await runProgram('inventory list --help', { through });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^Error: There is no space left on the disk; make room and try again\.$/m);
});

test('help whose reader has left ends quietly', async () => {
  const through = ['bash', '-c', '"$@" | :; exit "$PIPESTATUS"', 'bash'];
  const { code, stderr } = await runProgram('inventory apply --help', { through });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});
