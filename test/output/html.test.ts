import { expect } from 'vitest';
import { inventoryListView, stockPage } from '../../src/output/inventory-view.ts';
import { changeFile, test } from '../support/shop.ts';
import { render } from './render.ts';

const now = Date.parse('2026-01-15T12:00:00Z');
const page = (items: Parameters<typeof inventoryListView>[0]) =>
  render(
    'html',
    inventoryListView(items, { low: { standard: 5 }, page: stockPage('north/<production>', { standard: 5 }, now) }),
  );

test('prints an HTML page with the store and the date, and marks low stock', async () => {
  const items = [
    { petId: 9007199254740993n, quantity: 1234, status: 'available' },
    { petId: 4n, quantity: 5, status: 'available' },
    { petId: 5n, quantity: 5, status: 'sold' },
    { petId: 6n, quantity: -1, status: 'sold' },
  ];
  const text = await page([items]);
  expect(text).toContain('<h1>Stock of north/&lt;production&gt;</h1>\n<p>Printed 2026-01-15 07:00.');
  expect(text).toContain('<th class="number">Pet ID</th>');
  expect(text.match(/<tr.*<td.*/g)).toEqual([
    '<tr><td class="number">9007199254740993</td><td class="number">1,234</td><td></td><td>available</td></tr>',
    '<tr class="low"><td class="number">4</td><td class="number">5</td><td>low</td><td>available</td></tr>',
    '<tr><td class="number">5</td><td class="number">5</td><td></td><td>sold</td></tr>',
    '<tr class="bad"><td class="number">6</td><td class="number">-1</td><td>below zero</td><td>sold</td></tr>',
  ]);
});

test('escapes text in an HTML page, and prints no script, style sheet or image', async () => {
  const status = '<script>alert(1)</script>&amp;"\'\u001b[2J\u202e';
  const text = await page([[{ petId: 1n, quantity: 1, status }]]);
  expect(text).toContain('<td>&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;&quot;&#39;</td>');
  expect(text).not.toMatch(/<script|<link|<img|src=|href=|url\(|@import|\son\w+=/);
  expect(await page([])).toContain('<p>Nothing to show.</p>\n</body>');
});

test('shows the filters of a list and the period of a history in the heading of the page', async ({ shop }) => {
  const codes = changeFile(shop, 'code,petId,name\n55,5,Rabbit\n', 'codes.csv');
  await shop.run(['config', 'set', 'codes', codes]);
  for (const [command, heading] of [
    ['inventory list', 'Stock of staging'],
    [
      'inventory list --low --name rab --status available,sold',
      'Stock of staging: low; status available, sold; name with &quot;rab&quot;',
    ],
    [
      'inventory list --pet 4,5 --min-quantity 2 --max-quantity 9 --limit 3',
      'Stock of staging: pets 4, 5; 2 or more; 9 or less; at most 3 pets',
    ],
    ['inventory list --pet 1,2,3,4,5,6,7,8,9,10,11', 'Stock of staging: 11 chosen pets'],
    ['history list', 'History of all stores and environments from the first run until now'],
    ['history list --since 2d -e staging', 'History of staging of all stores from 2026-01-13 07:00 until now'],
    [
      'history list --since 2026-01-01 --until 2026-01-14 --pet 4',
      'History of all stores and environments from 2026-01-01 00:00 to 2026-01-14 23:59: of pet 4',
    ],
    [
      'history list --user kim --ref D-1 --state done --limit 5',
      'History of all stores and environments from the first run until now: with the reference D-1; by kim; done; the latest 5',
    ],
  ])
    expect((await shop.run(`${command} -o html`)).stdout, command).toContain(`<h1>${heading}</h1>`);
});

test('prints HTML pages for three commands, and refuses -o html for set before a request', async ({ shop }) => {
  await shop.run('inventory set 4 5');
  const [{ run }] = await shop.json('history list --json');
  for (const command of ['inventory list --low', 'history list', `history show ${run}`]) {
    const { code, stdout } = await shop.run(`${command} -o html`);
    expect([code, stdout.slice(0, 15), stdout.slice(-8)]).toEqual([0, '<!doctype html>', '</html>\n']);
  }
  const refusal = await shop.refused('inventory set 4 6 -o html');
  expect(refusal).toContain('Invalid output format "html". The valid formats are table, json, ndjson, csv, tsv.');
});
