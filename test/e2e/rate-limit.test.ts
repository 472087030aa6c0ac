import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runProgram, serve, temporaryHome } from '../support/program.ts';

/** So long that no test sees its end. */
const window = ['--window-seconds', '86400'];

test('a window that one process has spent holds back the next', async () => {
  const { env, journal } = await serve(['--limit-minute', '2', ...window]);
  const options = { env, home: temporaryHome() };
  expect((await runProgram('inventory list', options)).stderr).toMatch(/^Rate limit: 1 of 2 left, /);
  expect((await runProgram('inventory list', options)).stderr).toMatch(/^Rate limit: 0 of 2 left, /);
  const started = performance.now();
  const held = await runProgram('inventory list --max-wait 0 --json', options);
  expect(performance.now() - started).toBeLessThan(30_000);
  expect(held).toMatchObject({ code: 6, stdout: '' });
  expect(JSON.parse(held.stderr).error).toMatchObject({ exitCode: 6, retryAfterSeconds: expect.any(Number) });
  expect(await journal()).toHaveLength(2);
});

test('a state folder that can not be written costs a warning, not the command', async () => {
  const { env } = await serve();
  const home = temporaryHome();
  writeFileSync(home.state, 'a file where a folder should be');
  const { code, stdout, stderr } = await runProgram('inventory list', {
    env: { ...env, XDG_RUNTIME_DIR: home.folder },
    home,
  });
  expect(code).toBe(0);
  expect(stdout.split('\n').slice(0, -1)).toHaveLength(24);
  expect(stderr).toMatch(/^Warning: .*: what is known of the rate limit is kept in \S+ until the next restart\n/);
});
