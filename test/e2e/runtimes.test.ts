import { userInfo } from 'node:os';
import { expect, test } from 'vitest';
import { runProgram, serve, temporaryHome } from '../support/program.ts';
import { openClosingPort } from '../support/tls.ts';

test("prints the package's version, with or without a commit", async () => {
  const { default: manifest } = await import('../../package.json', { with: { type: 'json' } });
  const { code, stdout, stderr } = await runProgram('--version');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.replace(/\+[\da-f]{7,}\n$/, '\n')).toBe(`${manifest.version}\n`);
});

// USER is missing in containers and with cron; a relative HOME would put keys into the current folder.
test('takes the user name and the home folder from the account if USER or an absolute HOME is missing', async () => {
  const own = userInfo();
  const env = { HOME: 'nowhere', PETSTOCK_CONFIG_DIR: undefined };
  const { stdout } = await runProgram('config path', { env });
  expect(stdout.startsWith(`${own.homedir}/`), stdout).toBe(true);
  const home = temporaryHome();
  await runProgram('inventory set 4 12 --env sandbox --read-first', { home });
  const [run] = JSON.parse((await runProgram('history list --json', { home })).stdout);
  expect(run).toMatchObject({ user: own.username });
});

// With this variable, Node waits for the parent process of a cluster, which does not exist.
test('exits with 1 if the event loop runs empty before a command has finished', async () => {
  const result = await runProgram('inventory get 4 --env sandbox', { env: { NODE_UNIQUE_ID: '1' } });
  expect(result).toMatchObject({ code: 1, stdout: '' });
});

test('ignores proxies in the environment for a service on this machine', async () => {
  const { host, connections } = await openClosingPort();
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
  const proxies = Object.fromEntries(names.map((name) => [name, `http://${host}`]));
  const { env } = await serve();
  const { code } = await runProgram('inventory list', { env: { ...env, ...proxies, NODE_USE_ENV_PROXY: '1' } });
  expect([code, connections()]).toEqual([0, 0]);
});

test('prints no warning of Node about an https proxy that is given by its address', async () => {
  const { host } = await openClosingPort();
  const env = { PETSTOCK_URL_STAGING: 'https://stock.example/v1', PETSTOCK_API_KEY: 'psk_0123456789abcdef' };
  for (const [debug, line] of [
    ['', /^(Error: Can't reach the service|Hint: |$)/],
    [' --debug=json', /^(\{.*\}|$)/],
  ] as const) {
    const { code, stderr } = await runProgram(`inventory list -q --retries 0${debug}`, {
      env: { ...env, HTTPS_PROXY: `https://${host}` },
    });
    expect(code).toBe(5);
    for (const each of stderr.split('\n')) expect(each).toMatch(line);
  }
});
