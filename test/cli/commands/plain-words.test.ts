import { expect, test } from 'vitest';
import { openShop } from '../../support/shop.ts';

const options = { terminal: 100, env: { NO_COLOR: '1' } };

test('status says the limit once', async () => {
  const shop = await openShop();
  const { stdout, stderr } = await shop.run('status', options);
  expect(`${stdout}${stderr}`.match(/rate limit/gi)).toHaveLength(1);
  expect((await shop.run('status --json')).stderr).toContain('Rate limit: ');
});

test.each([
  ['inventory list --jsn', /"--jsn"/],
  ['inventory lst', /"lst"/],
  ['inventory list --status lost', /"lost"/],
  ['inventory list --color red', /"red"/],
])('%s: one kind of quotes', async (command, quote) => {
  const shop = await openShop();
  const { code, stderr } = await shop.run(command);
  expect(code).toBe(2);
  expect(stderr).toMatch(quote);
  expect(stderr).not.toMatch(/'[^' ]+'/);
});
