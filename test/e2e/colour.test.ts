import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram, temporaryHome } from '../support/program.ts';

type Variables = Readonly<Record<string, string>>;

const csi = '\x1b[';

/** stdout in colour, and the error on stderr, of a command whose output is piped. */
async function piped(flags: string, env: Variables = {}) {
  const options = { home: temporaryHome(), env };
  const list = await runProgram(`--env sandbox inventory list -o table ${flags}`, options);
  const failed = await runProgram(`--env sandbox inventory get 4242 ${flags}`, options);
  expect([list.code, failed.code]).toEqual([0, 9]);
  return { stdout: list.stdout.includes(csi), stderr: failed.stderr.includes(csi) };
}

/** The same of a terminal, where both streams are one. */
async function onTerminal(flags: string, env: Variables = {}) {
  const options = { home: temporaryHome(), env, terminal: 80 };
  const list = await runProgram(`--env sandbox inventory list ${flags}`, options);
  const failed = await runProgram(`--env sandbox inventory get 4242 ${flags}`, options);
  expect([list.code, failed.code]).toEqual([0, 9]);
  return { stdout: list.stdout.includes(csi), stderr: failed.stdout.includes(csi) };
}

const all = { stdout: true, stderr: true };
const none = { stdout: false, stderr: false };

test.each<[string, Variables, typeof all]>([
  ['', {}, none],
  ['', { FORCE_COLOR: '1' }, all],
  ['', { FORCE_COLOR: '1', NO_COLOR: '1', TERM: 'dumb' }, all],
  ['--color always', { NO_COLOR: '1', TERM: 'dumb', FORCE_COLOR: '0' }, all],
  ['--color never', { FORCE_COLOR: '1' }, none],
  ['--color auto', { FORCE_COLOR: '1' }, all],
])('piped: %s %o', async (flags, env, expected) => {
  expect(await piped(flags, env)).toEqual(expected);
});

test.each<[string, Variables, typeof all]>([
  ['', {}, all],
  ['', { NO_COLOR: '1' }, none],
  ['', { NO_COLOR: '' }, all],
  ['', { TERM: 'dumb' }, none],
  ['', { FORCE_COLOR: '0' }, none],
  ['--color never', {}, none],
  ['--color always', { TERM: 'dumb' }, all],
])('on a terminal: %s %o', async (flags, env, expected) => {
  expect(await onTerminal(flags, env)).toEqual(expected);
});

test('each stream is judged by itself: stdout into a file, stderr on the terminal', async () => {
  const home = temporaryHome();
  const through = ['sh', '-c', 'exec "$@" > "$HOME/out"', 'sh'];
  const command = '--env sandbox inventory list -o table --debug';
  const list = await runProgram(command, { home, through, terminal: 80 });
  expect(list.code).toBe(0);
  expect(list.stdout).toContain('Rate limit: ');
  const file = readFileSync(join(home.folder, 'out'), 'utf8');
  expect(file).toContain('Quantity');
  expect(file).not.toContain('\x1b');
  const failed = await runProgram('--env sandbox inventory get 4242', { home, through, terminal: 80 });
  expect(failed.stdout).toContain(`${csi}31m`);
});

test('colour changes nothing but colour', async () => {
  const home = temporaryHome();
  const plain = await runProgram('--env sandbox inventory list -o table', { home });
  const painted = await runProgram('--env sandbox inventory list -o table --color always', { home });
  expect(painted.stdout.replaceAll(/\x1b\[\d+m/g, '')).toBe(plain.stdout);
});

test.each(['json', 'ndjson', 'csv', 'tsv'])('%s is never coloured', async (format) => {
  const { code, stdout } = await runProgram(`--env sandbox inventory list -o ${format} --color always`);
  expect(code).toBe(0);
  expect(stdout).not.toContain('\x1b');
});
