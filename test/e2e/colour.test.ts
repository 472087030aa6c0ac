import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram, temporaryHome } from '../support/program.ts';

type Variables = Readonly<Record<string, string>>;

const csi = '\x1b[';

/** stdout in colour, and the error on stderr, of a command whose output is piped. */
async function piped(env: Variables) {
  const options = { home: temporaryHome(), env };
  const list = await runProgram(`--env sandbox inventory list -o table`, options);
  const failed = await runProgram(`--env sandbox inventory get 4242`, options);
  expect([list.code, failed.code]).toEqual([0, 9]);
  return { stdout: list.stdout.includes(csi), stderr: failed.stderr.includes(csi) };
}

/** The same of a terminal, where both streams are one. */
async function onTerminal(env: Variables) {
  const options = { home: temporaryHome(), env, terminal: 80 };
  const list = await runProgram(`--env sandbox inventory list`, options);
  const failed = await runProgram(`--env sandbox inventory get 4242`, options);
  expect([list.code, failed.code]).toEqual([0, 9]);
  return { stdout: list.stdout.includes(csi), stderr: failed.stdout.includes(csi) };
}

const all = { stdout: true, stderr: true };
const none = { stdout: false, stderr: false };

// What decides is in test/cli/colour.test.ts; here is that the program sees its streams and variables.
test.each<[Variables, typeof all]>([
  [{}, none],
  [{ FORCE_COLOR: '1', NO_COLOR: '1' }, all],
])('piped: %o', async (env, expected) => {
  expect(await piped(env)).toEqual(expected);
});

test.each<[Variables, typeof all]>([
  [{}, all],
  [{ NO_COLOR: '1' }, none],
])('on a terminal: %o', async (env, expected) => {
  expect(await onTerminal(env)).toEqual(expected);
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
