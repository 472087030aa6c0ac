import { expect } from 'vitest';
import { openShop, test } from '../support/shop.ts';

// What decides is in test/output/lines.test.ts; here is that a flag, the variables and each stream are asked.
test.each<[terminal: number | undefined, flags: string, env: Readonly<Record<string, string>>, isColoured: boolean]>([
  [undefined, '', {}, false],
  [undefined, '', { FORCE_COLOR: '1' }, true],
  [undefined, '--color always', {}, true],
  [80, '', {}, true],
  [80, '', { NO_COLOR: '1' }, false],
])('a terminal of %s columns, %s %o: %s', async (terminal, flags, env, isColoured) => {
  const shop = await openShop();
  const list = await shop.run(`inventory list -o table ${flags}`.trim(), { env, terminal });
  const failed = await shop.run(`inventory get 4242 ${flags}`.trim(), { env, terminal });
  expect([list.stdout, failed.stderr].map((text) => text.includes('\x1b['))).toEqual([isColoured, isColoured]);
});

test('each stream is judged by itself', async ({ shop }) => {
  const onlyStderr = { terminal: 80, terminals: ['stderr'] as const };
  const list = await shop.run('inventory list -o table', onlyStderr);
  expect(list.stdout).not.toContain('\x1b');
  const failed = await shop.run('inventory get 4242', onlyStderr);
  expect(failed.stderr).toContain('\x1b[31m');
});

test.for(['json', 'ndjson', 'csv', 'tsv'])('%s is never coloured', async (format, { shop }) => {
  const { code, stdout } = await shop.run(`inventory list -o ${format} --color always`);
  expect(code).toBe(0);
  expect(stdout).not.toContain('\x1b');
});
