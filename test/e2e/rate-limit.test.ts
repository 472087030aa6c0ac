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
