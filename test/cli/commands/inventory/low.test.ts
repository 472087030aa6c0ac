import { expect } from 'vitest';
import { changeFile, openShop, petsIn, test } from '../../../support/shop.ts';

/** Opens a shop in which pet 4 has 39 units, pet 5 has 1, pet 7 has 5 and is pending, and pet 8 has 32. */
async function shopWithLevels() {
  const shop = await openShop();
  const codes = changeFile(shop, 'code,petId,name,low\n,4,Rex,39\n,5,Mia,0\n,7,Leo,50\n', 'codes.csv');
  expect((await shop.run(['config', 'set', 'codes', codes])).code).toBe(0);
  return shop;
}

const terminal = { terminal: 100, env: { NO_COLOR: '1' } };

test("uses a pet's own level instead of low-stock in --low, marks, summaries and printed lists", async () => {
  const shop = await shopWithLevels();
  const low = async (words = '') =>
    (await shop.run(`inventory list --low --pet 4,5,7,8,12 -o tsv${words}`)).stdout.match(/^\d+/gm);
  expect(await low()).toEqual(['4', '12']);
  await shop.run('config set low-stock 32');
  expect(await low()).toEqual(['4', '8', '12']);
  expect(await low(' --max-quantity 32')).toEqual(['8', '12']);
  expect(await shop.json('inventory list --low --pet 4,5,8 --summary --json')).toMatchObject({ pets: 2, units: 71 });
  const table = await shop.run('inventory list --pet 4,5,7,8', terminal);
  expect(table.stdout.match(/\d+ +\d+ +low /g)).toHaveLength(2);
  expect(table.stdout).toMatch(/ 5 +1 +available/);
  expect((await shop.run('inventory get 4', terminal)).stdout).toContain('low');
  expect((await shop.run('inventory set 5 0', terminal)).stdout).toContain('out of stock');
  const page = (await shop.run('inventory list --pet 4,5,8 -o html')).stdout;
  expect(page).toContain(
    'Low stock: available pets at or below their own level, or with 32 or less if they have none.',
  );
  expect(page.match(/<tr class="low"/g)).toHaveLength(2);
});

test('watch --low --now shows a pet whose stock is at its own level', async () => {
  const shop = await shopWithLevels();
  const low = await shop.run('inventory watch --low --now --pet 4,5,8 --for 1');
  expect(low.stdout).toMatch(/^\{[^\n]*"petId":4,[^\n]*\}\n$/);
});

test('prints levels but no stock on a count sheet if some pets have their own level', async () => {
  const shop = await shopWithLevels();
  const { stdout } = await shop.run('inventory count --sheet -o csv');
  expect(stdout).toMatch(/^name,petId,codes,low,counted\n/);
  expect(stdout).toContain('\nRex,4,,39,\n');
  expect(stdout).toContain('\n,8,,5,\n');
});

test('list --low lists available pets at or below low-stock that match the other filters', async ({ shop }) => {
  const list = async (words = '') => petsIn((await shop.run(`inventory list${words}`)).stdout);
  const all = await list();
  const low = (most: number) => all.filter((pet) => pet.endsWith(' available') && Number(pet.split(' ')[1]) <= most);
  expect(await list(' --low')).toEqual(low(5));
  await shop.run('config set low-stock 20');
  expect(await list(' --low')).toEqual(low(20));
  expect(await list(' --low --pet 5,4')).toEqual(['5 1 available']);
  expect(await list(' --low --status sold')).toEqual([]);
});
