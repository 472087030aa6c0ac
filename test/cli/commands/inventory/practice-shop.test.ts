import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { changeFile, type Shop, test } from '../../../support/shop.ts';

const terminal = { terminal: 100, env: { NO_COLOR: '1' } };
const practice = (shop: Shop, words: string, options = {}) => shop.run(`--env sandbox ${words}`, options);

test('shows names, codes and levels of the practice shop without any setup', async ({ shop }) => {
  expect((await practice(shop, 'inventory list', terminal)).stdout).toMatch(/\n +4 +39 +available +Rabbit\n/);
  expect((await practice(shop, 'inventory list -o html')).stdout).toContain('Rabbit');
  expect(await practice(shop, 'inventory set rabbit 8', terminal)).toMatchObject({ code: 0 });
  expect((await practice(shop, 'inventory list --low --name rabbit', terminal)).stdout).toMatch(
    / 8 +low +available +Rabbit/,
  );
  expect((await practice(shop, 'inventory get --code 2000000000046')).stdout).toMatch(/^4\t8\tavailable\b/);
  expect((await practice(shop, 'inventory list --fields name --name hamster')).stdout).toBe(
    'Red hamster\nBlue hamster\n',
  );
  const count = await practice(shop, 'inventory count --yes --json', {
    stdin: '2000000000046\n2000000000046 x2\ndone\n',
  });
  expect(JSON.parse(count.stdout).rows).toMatchObject([{ petId: 4, before: 8, after: 3, result: 'applied' }]);
});

test('finds the same low pets in the practice shop by its levels as by low-stock', async ({ shop }) => {
  const ids = async (words: string) => (await practice(shop, `inventory list ${words}`)).stdout.match(/^\d+/gm);
  expect(await ids('--low')).toEqual(await ids('--status available --max-quantity 5'));
});

test('omits names of the practice shop in formats for programs', async ({ shop }) => {
  for (const format of ['tsv', 'csv', 'json', 'ndjson']) {
    const { stdout } = await practice(shop, `inventory list -o ${format}`);
    expect(stdout).not.toMatch(/name|Rabbit/);
  }
  expect((await practice(shop, 'inventory get rabbit --json')).stdout).not.toContain('name');
  expect((await practice(shop, 'inventory export')).stdout).toMatch(/^petId,status,(?!.*name)/);
  expect((await practice(shop, 'inventory export --spreadsheet')).stdout).toMatch(/^\ufeffpetId,name,status,/);
});

test('prefers the setting codes to the codes of the practice shop', async ({ shop }) => {
  await shop.run(['config', 'set', 'codes', changeFile(shop, 'code,petId,name\n007,4,Rex\n', 'codes.csv')]);
  expect((await practice(shop, 'inventory get rex --json')).stdout).toContain('"name":"Rex"}');
  expect(await practice(shop, 'inventory get rabbit')).toMatchObject({ code: 9 });
});

test('saves new codes of the practice shop in a file, and drops them after a reset', async ({ shop }) => {
  expect(await practice(shop, 'inventory codes add X-1 rabbit')).toMatchObject({ code: 0 });
  expect(readFileSync(join(shop.folders.state, 'sandbox-codes.csv'), 'utf8')).toMatch(
    /^code,petId,name,low\n.*\n2000000000046,4,Rabbit,8\n.*\nX-1,4,,\n$/s,
  );
  expect((await practice(shop, 'inventory get --code X-1')).stdout).toMatch(/^4\t/);
  await shop.run('sandbox reset');
  expect(await practice(shop, 'inventory get --code X-1')).toMatchObject({ code: 9 });
  expect(await practice(shop, 'inventory get rabbit')).toMatchObject({ code: 0 });
});

test('has no runs of the former stock after a reset or an import, so that a practice script can run again', async ({
  shop,
}) => {
  await shop.exits('inventory adjust 4 +5 --ref N-31 --env staging', 0);
  const delivery = changeFile(shop, 'petId,delta,ref\n4,50,N-31\n', 'delivery.csv');
  const stock = changeFile(shop, 'petId,quantity\n4,1\n', 'stock.csv');
  for (const again of ['sandbox reset', `sandbox import ${stock}`, 'sandbox reset']) {
    for (const words of ['adjust 4 +5 --ref N-7', `apply ${delivery} --yes`]) {
      expect((await practice(shop, `inventory ${words}`)).code).toBe(0);
    }
    expect((await practice(shop, `inventory apply ${delivery} --yes`)).code).toBe(2);
    await shop.exits(again, 0);
    expect(await shop.json('history list --json')).toMatchObject([{ env: 'staging' }]);
    expect(await practice(shop, 'undo --last --yes')).toMatchObject({ code: 9 });
  }
  await shop.exits('sandbox reset --file /nowhere.db', 2);
});

test('does not show names of the practice shop after an import into the sandbox', async ({ shop }) => {
  await practice(shop, 'inventory codes add X-1 rabbit');
  await shop.run(`sandbox import ${changeFile(shop, 'petId,quantity\n4,1\n')}`);
  expect((await practice(shop, 'inventory list', terminal)).stdout).not.toContain('Rabbit');
  expect(await practice(shop, 'inventory get --code X-1')).toMatchObject({ code: 9 });
});

test('shows names of the practice shop in the history only for its own runs', async ({ shop }) => {
  await practice(shop, 'inventory set 4 8', terminal);
  const run = (words: string) => practice(shop, words, terminal).then(({ stdout }) => stdout);
  expect(await run('history list')).toContain('Rabbit');
  expect(await run('history show latest')).toContain('Rabbit');
  await shop.run('inventory adjust 4 -1 --env staging');
  expect((await shop.run('history list', terminal)).stdout).not.toContain('Rabbit');
  expect(await shop.json('--env sandbox history list --pet rabbit,5 --json')).toMatchObject([{ env: 'sandbox' }]);
  expect(await shop.refused('history list --pet rabbit')).toContain('is not a pet id');
});

test('shows whole names next to an id of 19 digits in a narrow watch', async ({ shop }) => {
  const { stdout } = await practice(shop, 'inventory watch --now --for 1 --low', { ...terminal, terminal: 60 });
  expect(stdout).toMatch(/ 9223372036854775807 +0 +Hermit crab\n/);
});
