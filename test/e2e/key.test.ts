import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Home, type ProgramOptions, runProgram, serve, temporaryHome } from '../support/program.ts';

test('a key and a URL are stored, then used', async () => {
  const { url, key } = await serve();
  const home = temporaryHome();
  const setUrl = await runProgram(['config', 'set-url', url, '--env', 'production'], { home });
  expect(setUrl).toMatchObject({ code: 0, stdout: '' });
  const setKey = await runProgram('config set-key --env production', { home, stdin: `${key}\n` });
  expect(setKey).toMatchObject({ code: 0, stdout: '' });
  expect(setKey.stderr).toContain(`…${key.slice(-4)}`);
  const list = await runProgram('--env production inventory list --json', { home });
  expect(list.code).toBe(0);
  expect(JSON.parse(list.stdout)).toHaveLength(24);
});

test('files that hold a key are for their owner alone, whatever the umask', async () => {
  const home = temporaryHome();
  const through = ['sh', '-c', 'umask 0; exec "$@"', 'sh'];
  const file = join(home.config, 'config.json');
  await runProgram('config set-key --env staging', { home, through, stdin: 'psk_0123456789' });
  expect([mode(home.config), mode(file)]).toEqual(['700', '600']);
});

test('a wider file is narrowed, with a warning', async () => {
  const home = temporaryHome();
  const file = join(home.config, 'config.json');
  await runProgram('config set-key --env staging', { home, stdin: 'psk_0123456789' });
  chmodSync(file, 0o644);
  const { code, stderr } = await runProgram('config list', { home });
  expect(code).toBe(0);
  expect(stderr).toContain(`${file} could be read by others`);
  expect(mode(file)).toBe('600');
  expect((await runProgram('config list', { home })).stderr).toBe('');
});

test('a key as an argument is refused, and not repeated', async () => {
  const home = temporaryHome();
  const key = 'psk_OnTheCommandLine';
  for (const args of [[key], [`--key=${key}`], ['--key', key], ['--', key]]) {
    const { code, stdout, stderr } = await runProgram(['config', 'set-key', ...args], { home });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).not.toContain('OnTheCommandLine');
  }
  expect(existsSync(home.config)).toBe(false);
});

test('no byte of any output or state holds the key', async () => {
  const key = 'psk_NeverShownNeverShownNeverShown99';
  const commands = [
    'inventory list --debug',
    'inventory list --json --debug',
    'inventory get 1 --debug',
    'inventory set 1 5 --debug --reason because',
    'inventory adjust 1 +1 --debug',
    'pets get 1 --debug',
    'orders list --debug',
    'api GET /inventory --debug',
    'api GET /nothing --debug',
    'status --debug',
    'status --json',
    'limits --refresh --debug',
    'config list',
    'config list --json',
  ];
  // A service that does not know the key, and one that breaks off.
  const stranger = await serve();
  const broken = await serve(['--fault', '*:reset']);
  const home = temporaryHome();
  let output = '';
  const run = async (command: string, options: ProgramOptions) => {
    const { stdout, stderr } = await runProgram(command, { home, ...options });
    output += `${stdout}${stderr}`;
  };
  const store = async (url: string) => run(`config set-key --env staging --debug --url ${url}`, { stdin: key });
  await store(stranger.url);
  for (const command of commands) await run(command, { env: { PETSTOCK_URL_STAGING: stranger.url } });
  await run('api POST /inventory --debug', { env: { PETSTOCK_URL_STAGING: broken.url } });
  await store(broken.url);
  await run('api POST /inventory --debug', { env: {} });
  await run('api POST /inventory --debug', { env: { PETSTOCK_URL_STAGING: broken.url, PETSTOCK_API_KEY: key } });
  expect(output).toContain('> GET http://');
  expect(output).not.toContain('NeverShown');
  expect(output).not.toContain(Buffer.from(key).toString('base64').slice(4, 20));
  expect(filesWith(home, 'NeverShown')).toEqual([join(home.config, 'config.json')]);
});

test('the key that a service takes is shown by none of its commands either', async () => {
  const { env, key } = await serve();
  const home = temporaryHome();
  const commands = [
    'inventory list',
    'inventory set 1 5',
    'inventory adjust 1 2',
    'pets get 1',
    'status',
    'config list',
  ];
  for (const command of commands) {
    const { stdout, stderr } = await runProgram(`${command} --debug`, { home, env });
    expect(stdout + stderr).not.toContain(key.slice(4, 30));
  }
  expect(filesWith(home, key.slice(4, 30))).toEqual([]);
});

function mode(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

function filesWith({ folder }: Home, text: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(text));
}
