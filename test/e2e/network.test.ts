import { expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { runProgram, serve, startProgram } from '../support/program.ts';
import { openClosingPort } from '../support/tls.ts';

test('Ctrl-C ends the tries', async () => {
  const env = { PETSTOCK_URL_STAGING: `http://127.0.0.1:${await freePort()}/v1`, PETSTOCK_API_KEY: 'psk_0123456789' };
  const program = startProgram('inventory list --debug', { env });
  await program.until('stderr', '< failed GET');
  program.kill('SIGINT');
  expect(await program.result).toMatchObject({ code: 130, signal: null, stdout: '' });
});

test('proxies in the environment are ignored', async () => {
  const { host, connections } = await openClosingPort();
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
  const proxies = Object.fromEntries(names.map((name) => [name, `http://${host}`]));
  const { env } = await serve();
  const { code } = await runProgram('inventory list', { env: { ...env, ...proxies, NODE_USE_ENV_PROXY: '1' } });
  expect([code, connections()]).toEqual([0, 0]);
});
