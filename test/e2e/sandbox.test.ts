import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram, temporaryHome } from '../support/program.ts';

test('the sandbox needs no set-up', async () => {
  const { code, stdout, stderr } = await runProgram('--env sandbox inventory list');
  expect(code).toBe(0);
  expect(stdout.split('\n').slice(0, -1)).toHaveLength(24);
  expect(stdout).toMatch(/^(-?\d+\t-?\d+\t(available|pending|sold)\n)+$/);
  expect(stderr).toMatch(/^Rate limit: 999 of 1000 left, resets in .+\n$/);
});

test('it is kept where XDG says, in the home folder', async () => {
  const home = temporaryHome();
  const env = { PETSTOCK_CONFIG_DIR: undefined, PETSTOCK_STATE_DIR: undefined };
  const { code, stdout } = await runProgram('sandbox info --json', { home, env });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ file: `${home.folder}/.local/state/petstock/sandbox.db`, pets: 24 });
  expect(readdirSync(home.folder)).toEqual(['.local']);
});

test('several first commands at once: one key, one stock, and all succeed', async () => {
  const home = temporaryHome();
  const commands = Array.from({ length: 6 }, (_, index) => `--env sandbox inventory set ${index + 1} ${index + 100}`);
  const results = await Promise.all(commands.map((command) => runProgram(command, { home })));
  expect(results.map(({ code, stderr }) => ({ code, errors: stderr.match(/Error:.*|Warning:.*/g) }))).toEqual(
    results.map(() => ({ code: 0, errors: null })),
  );
  const { stdout } = await runProgram('--env sandbox inventory list --pet 1,2,3,4,5,6 --fields quantity', { home });
  expect(stdout).toBe('100\n101\n102\n103\n104\n105\n');
  // Nothing is left of the keys that came second.
  const names = readdirSync(home.state).filter((name) => name.includes('key'));
  expect(names).toEqual(['sandbox.key']);
});

test('whatever the umask, its key is for its owner alone', async () => {
  const home = temporaryHome();
  const through = ['sh', '-c', 'umask 0; exec "$@"', 'sh'];
  expect((await runProgram('--env sandbox inventory list', { home, through })).code).toBe(0);
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
  expect(mode(home.state)).toBe('700');
  expect(mode(join(home.state, 'sandbox.key'))).toBe('600');
  expect(mode(join(home.state, 'state.db'))).toBe('600');
});
