import { expect } from 'vitest';
import { changeFile, openShop, test } from '../../../../support/shop.ts';

test('prints all pets by name with their codes and a box for count --sheet, and begins no session', async () => {
  const shop = await openShop({ pets: 6 });
  const codes = changeFile(shop, 'code,petId,name\n004,2,Zebra <finch>\n55,2,\n,3,ant\n', 'codes.csv');
  await shop.exits(['config', 'set', 'codes', codes], 0);
  const { stdout, requests } = await shop.exits('inventory count --sheet', 0);
  expect(requests.map(({ method }) => method)).toEqual(['GET']);
  expect(stdout).toMatch(/^<!doctype html>/);
  expect(stdout).toContain('<h1>Stock-take of staging</h1>');
  const rows = [...stdout.matchAll(/<td[^>]*>(.*?)<\/td>/g)].map(([, cell]) => cell);
  const box = '[__________]';
  expect(rows.slice(0, 12)).toEqual([
    'ant',
    '3',
    '',
    box,
    'Zebra &lt;finch&gt;',
    '2',
    '004, 55',
    box,
    '',
    '1',
    '',
    box,
  ]);
  expect((await shop.run('inventory count --list --closed -o csv')).stdout.split('\n')).toHaveLength(2);
  const table = await shop.run('inventory count --sheet --env staging', { terminal: 80 });
  expect(table.stderr).toContain('inventory count --sheet --env staging --output=html > sheet.html');
  expect((await shop.run('inventory count --sheet -o tsv')).stdout).toMatch(/^ant\t3\t\t\n/);
});

test('count refuses -o html without --sheet, and --sheet with --list', async ({ shop }) => {
  expect(await shop.refused('inventory count -o html --yes', { stdin: '4\n' })).toContain('--sheet -o html');
  await shop.refused('inventory count --list -o html');
  await shop.refused('inventory count --list --sheet');
});
