import { chmodSync, chownSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isRoot } from '../support/capabilities.ts';
import { type Home, type ProgramOptions, runProgram, serveProgram, temporaryHome } from '../support/program.ts';

test('stores the sandbox in ~/.local/state, and nothing else in the home folder', async () => {
  const home = temporaryHome();
  const env = { PETSTOCK_CONFIG_DIR: undefined, PETSTOCK_STATE_DIR: undefined };
  const { code, stdout } = await runProgram('sandbox info --json', { home, env });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ file: `${home.folder}/.local/state/petstock/sandbox.db`, pets: 24 });
  expect(readdirSync(home.folder)).toEqual(['.local']);
});

test('creates one key and one stock for several first commands at once', async () => {
  const home = temporaryHome();
  const commands = Array.from({ length: 6 }, (_, index) => `--env sandbox inventory set ${index + 1} ${index + 100}`);
  const results = await Promise.all(commands.map((command) => runProgram(command, { home })));
  expect(results.map(({ code, stderr }) => ({ code, errors: stderr.match(/Error:.*|Warning:.*/g) }))).toEqual(
    results.map(() => ({ code: 0, errors: null })),
  );
  const { stdout } = await runProgram('--env sandbox inventory list --pet 1,2,3,4,5,6 --fields quantity', { home });
  expect(stdout).toBe('100\n101\n102\n103\n104\n105\n');
  // Commands that did not win the race leave no key file.
  const names = readdirSync(home.state).filter((name) => name.includes('key'));
  expect(names).toEqual(['sandbox.key']);
});

test('creates state and configuration files with mode 600, whatever the umask', async () => {
  const home = temporaryHome();
  const through = ['sh', '-c', 'umask 0; exec "$@"', 'sh'];
  expect((await runProgram('--env sandbox inventory list', { home, through })).code).toBe(0);
  await runProgram('config set-key --env staging', { home, through, stdin: 'psk_0123456789' });
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
  expect([home.state, home.config].map(mode)).toEqual(['700', '700']);
  const files = [join(home.state, 'sandbox.key'), join(home.state, 'state.db'), join(home.config, 'config.json')];
  expect(files.map(mode)).toEqual(['600', '600', '600']);
});

/** Lets a program run as a user whom permissions bind, also if the tests run as root. The home belongs to that user. */
function asUser({ folder }: Home): ProgramOptions {
  if (process.geteuid?.() !== 0) return {};
  chownSync(folder, 1234, 1234);
  return { through: ['setpriv', '--reuid=1234', '--regid=1234', '--clear-groups'] };
}

test.skipIf(process.platform !== 'linux')('reports a state folder that can not be read, with a hint', async () => {
  const home = temporaryHome();
  const options = { home, ...asUser(home) };
  mkdirSync(home.state);
  if ('through' in options) chownSync(home.state, 1234, 1234);
  chmodSync(home.state, 0o000);
  for (const command of ['--env sandbox inventory list', 'sandbox serve --port 0']) {
    const { code, stderr } = await runProgram(command, options);
    expect({ command, code, stderr }).toEqual({
      command,
      code: 1,
      stderr: expect.stringMatching(/Error: .* can't be (used|read).*\n(.*\n)*Hint: chmod u\+rwx \S+state\n/),
    });
  }
});

test.skipIf(process.platform !== 'linux')('serves from memory for a user without a home', async () => {
  const home = temporaryHome();
  // A user without an account has no home even if HOME is missing.
  const through = isRoot ? ['setpriv', '--reuid=54321', '--regid=54321', '--clear-groups'] : [];
  const HOME = isRoot ? undefined : '/nowhere';
  const none = { HOME, PETSTOCK_STATE_DIR: undefined, PETSTOCK_CONFIG_DIR: undefined };
  const { program, url, key } = await serveProgram(['--key', 'a-constant-key-of-ours'], { home, env: none, through });
  expect(key).toBe('a-constant-key-of-ours');
  expect((await fetch(`${url}/inventory`, { headers: { Authorization: `Bearer ${key}` } })).status).toBe(200);
  program.kill('SIGTERM');
  expect(await program.result).toMatchObject({ code: 0 });
});
