import { expect } from 'vitest';
import { test } from '../../support/shop.ts';

const options = { terminal: 100, env: { NO_COLOR: '1' } };

test('status says the limit once', async ({ shop }) => {
  const { stdout, stderr } = await shop.run('status', options);
  expect(`${stdout}${stderr}`.match(/rate limit/gi)).toHaveLength(1);
  expect((await shop.run('status --json')).stderr).toContain('Rate limit: ');
});

test.for([
  ['inventory list --jsn', /"--jsn"/],
  ['inventory lst', /"lst"/],
  ['inventory list --status lost', /"lost"/],
  ['inventory list --color red', /"red"/],
  ['inventory get 1.5', /"1\.5"/],
  ['inventory set 4 1e3', /"1e3"/],
  ['inventory list --fields name', /"name"/],
  ['inventory list --header=yes', /"--header"|"yes"/],
  ['inventory adjust 4 x', /"x"/],
  ['inventory aply x.csv', /"aply"/],
  ['inventory list --output xml', /"xml"/],
  ['inventory list --limit', /"--limit"|--limit/],
  ['inventory get', /petId/],
  ['inventory get 4 --env moon', /"moon"/],
  ['history list --state lost', /"lost"/],
  ['history list --since yesterdy', /"yesterdy"/],
  ['config set max-zero many', /max-zero/],
  ['config set shop 3', /"shop"/],
  ['sandbox serve --fault *:explode', /"explode"/],
  ['sandbox serve --plan gold', /"gold"/],
  ['api GE/T /inventory', /GE\/T/],
] as const)('%s: one kind of quotes', async ([command, quote], { shop }) => {
  const { code, stderr } = await shop.run(command);
  expect(code).toBe(2);
  expect(stderr).toMatch(quote);
  expect(stderr).not.toMatch(/'[^' ]+'/);
});
