import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram, serve, temporaryHome } from '../support/program.ts';

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

function mode(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}
