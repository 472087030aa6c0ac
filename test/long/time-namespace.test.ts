import { expect, test } from 'vitest';
import { timeNamespace } from '../support/capabilities.ts';
import { runProgram, serve, temporaryHome } from '../support/program.ts';

const through = timeNamespace ?? [];

test.runIf(timeNamespace !== undefined).each([
  ['outside', [], through],
  ['inside', through, []],
])('keeps waiting after a 429 recorded %s a time namespace that is 5,000 s ahead', async (_where, first, second) => {
  const served = await serve({ faults: ['*:first=1:status=429:retry-after=200'] });
  const options = { env: served.env, home: temporaryHome() };
  const command = 'inventory get 4 --max-wait 0 --json';
  expect(await runProgram(command, { ...options, through: first })).toMatchObject({ code: 6 });
  const { code, stderr } = await runProgram(command, { ...options, through: second });
  expect(code).toBe(6);
  expect(stderr).toMatch(/in 3 min/);
  expect(served.journal()).toHaveLength(1);
});
