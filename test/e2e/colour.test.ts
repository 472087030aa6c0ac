import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram, temporaryHome } from '../support/program.ts';

type Variables = Readonly<Record<string, string>>;

const csi = '\x1b[';

const all = { stdout: true, stderr: true };
const none = { stdout: false, stderr: false };

// What decides is in test/cli/colour.test.ts; here is that the program sees its streams and variables.
test.each<[terminal: number | undefined, env: Variables, coloured: typeof all]>([
  [undefined, {}, none],
  [undefined, { FORCE_COLOR: '1', NO_COLOR: '1' }, all],
  [80, {}, all],
  [80, { NO_COLOR: '1' }, none],
])('a terminal of %s columns, %o', async (terminal, env, coloured) => {
  const options = { home: temporaryHome(), env, ...(terminal && { terminal }) };
  const list = await runProgram('--env sandbox inventory list -o table', options);
  const failed = await runProgram('--env sandbox inventory get 4242', options);
  expect([list.code, failed.code]).toEqual([0, 9]);
  // On a terminal both streams are one.
  const error = terminal ? failed.stdout : failed.stderr;
  expect({ stdout: list.stdout.includes(csi), stderr: error.includes(csi) }).toEqual(coloured);
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
