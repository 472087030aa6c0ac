import { describe, expect, it, test } from 'vitest';
import type { InventoryItem } from '../../src/inventory/items.ts';
import { summarize } from '../../src/inventory/summary.ts';
import { inventoryItemView, inventoryListView, summaryView } from '../../src/output/inventory-view.ts';
import { chosenFields, type Format } from '../../src/output/view.ts';
import { batchesOf } from '../inventory/batches.ts';
import { largeStock, stock } from './fixtures.ts';
import { itemsView, render, visible, withFields } from './render.ts';

test.each([
  [['petId'], ['petId']],
  [['status,petId'], ['status', 'petId']],
  [[' status , quantity '], ['status', 'quantity']],
  [
    ['petId', 'status,petId'],
    ['petId', 'status'],
  ],
])('parses --fields %j', (texts, names) => {
  const view = chosenFields(itemsView([]), texts);
  expect(view.ok && view.value.columns.map(({ field }) => field)).toEqual(names);
});

test.each([
  ['name', '"name" is not a field'],
  ['petid', '"petid" is not a field'],
  ['petId,petId', '"petId" is named twice'],
  ['', 'a field is empty'],
  ['petId,', 'a field is empty'],
  ['\x1b[2J', '"<U+001B>[2J" is not a field'],
])('refuses --fields %j', (text, fault) => {
  const all = `${fault}: the fields are petId, quantity, status`;
  expect(chosenFields(itemsView([]), [text])).toEqual({ ok: false, problem: all });
});

test.each([
  [['petId', 'name'], '{"petId":4,"name":null}', 'petId,name\n4,\n'],
  [
    ['name', 'quantity', 'status', 'petId'],
    '{"name":null,"quantity":1,"status":"sold","petId":4}',
    'name,quantity,status,petId\n,1,sold,4\n',
  ],
  [['name', 'status', 'petId'], '{"name":null,"status":"sold","petId":4}', 'name,status,petId\n,sold,4\n'],
  [
    ['petId', 'quantity', 'status', 'name'],
    '{"petId":4,"quantity":1,"status":"sold","name":null}',
    'petId,quantity,status,name\n4,1,sold,\n',
  ],
])('prints the chosen fields %j', async (fields, json, csv) => {
  const items = [{ petId: 4n, quantity: 1, status: 'sold' }];
  const view = withFields(inventoryListView([items], { low: { standard: 5 }, names: new Map() }), ...fields);
  expect(await render('ndjson', view)).toBe(`${json}\n`);
  expect(await render('csv', view)).toBe(csv);
});

test.each(['table', 'csv', 'tsv'] as const)('prints nothing as %s for a view without columns', async (format) => {
  expect(await render(format, { shape: 'list', columns: [], rows: [[]] })).toBe('');
  expect(await render(format, { shape: 'one', columns: [], rows: [[{}]] })).toBe('');
});

describe('inventoryListView', () => {
  it('shows the chosen fields in the chosen order, in every format', async () => {
    const view = withFields(itemsView(largeStock), 'status', 'petId');
    expect(await render('csv', view)).toBe('status,petId\navailable,9007199254740993\npending,9223372036854775807\n');
    expect(await render('ndjson', view)).toContain('{"status":"available","petId":9007199254740993}\n');
    expect(await render('table', view, { width: 80 })).toMatchInlineSnapshot(`
      "Status                  Pet ID
      available     9007199254740993
      pending    9223372036854775807
      "
    `);
  });

  test.each([
    [0, ['out of stock', '', '', '']],
    [3, ['out of stock', 'low', '', '']],
    [12, ['out of stock', 'low', 'low', '']],
    [-1, ['', '', '', '']],
  ])('marks available stock as low up to %i', async (standard, marks) => {
    const items = [0, 3, 12, 13].map((quantity) => ({ petId: 1n, quantity, status: 'available' }));
    const lines = (await render('table', inventoryListView([items], { low: { standard } }), { header: false })).split(
      '\n',
    );
    expect(lines.slice(0, -1).map((line) => /out of stock|low/.exec(line)?.[0] ?? '')).toEqual(marks);
  });

  it('shows names where they are known, and short words on a narrow terminal', async () => {
    const items = [
      { petId: 4n, quantity: 0, status: 'available' },
      { petId: 5n, quantity: -2, status: 'sold' },
    ];
    const low = { standard: 5 };
    const shown = (format: Format, width?: number) =>
      render(format, inventoryListView([items], { low, names: new Map([[4n, 'Rex']]) }), width ? { width } : {});
    expect(await shown('ndjson')).toBe(
      '{"petId":4,"quantity":0,"status":"available","name":"Rex"}\n{"petId":5,"quantity":-2,"status":"sold","name":null}\n',
    );
    expect(await shown('csv')).toBe('petId,quantity,status,name\n4,0,available,Rex\n5,-2,sold,\n');
    expect(await shown('table', 80)).toMatchInlineSnapshot(`
      "Pet ID  Quantity                Status     Name
           4         0  out of stock  available  Rex
           5        -2  below zero    sold       -
      "
    `);
    expect(await shown('table', 30)).toMatchInlineSnapshot(`
      "Pet ID  Qty           Name
           4    0  out      Rex
           5   -2  below 0  -
      "
    `);
  });

  it('prints a row with missing values', async () => {
    expect(await render('table', { ...itemsView(), rows: [[{ petId: 1n }]] }, { header: false })).toBe('1\n');
  });
});

test('shows an item with its name, and the stock before an adjustment even if that was 0', async () => {
  const item = { petId: 9223372036854775807n, quantity: 5, status: 'available' };
  const names = new Map([[item.petId, 'Rex']]);
  const view = inventoryItemView(item, { low: { standard: 5 }, names, before: 0 });
  const json = '{"petId":9223372036854775807,"quantity":5,"status":"available","name":"Rex","before":0}\n';
  expect(await render('json', view)).toBe(json);
  expect(await render('tsv', view)).toBe('9223372036854775807\t5\tavailable\tRex\t0\n');
});

describe('summaryView', () => {
  const summary = async (items: readonly InventoryItem[] = [...stock, ...largeStock]) =>
    summaryView(await summarize(batchesOf(items, 4)));

  it('draws bars in the table of a summary if there is room for them', async () => {
    expect(await render('table', await summary(), { width: 80 })).toMatchInlineSnapshot(`
      "Status     Pets  Share              Units
      available     2    33%  ███░░░░░░░    262
      pending       2    33%  ███░░░░░░░      0
      sold          1    17%  █░░░░░░░░░      3
      on_loan       1    17%  █░░░░░░░░░     -3
      Total         6                       262
      "
    `);
    expect(await render('table', await summary(), { width: 80 })).toBe(await render('table', await summary()));
    expect(await render('table', await summary(), { width: 45 })).toMatch(/33% {2}███░{7} {4,}262\n/);
    expect(await render('table', await summary(), { width: 40 })).not.toMatch(/[█░…]/);
  });

  it('prints a summary as JSON', async () => {
    const text =
      '{"pets":6,"units":262,"byStatus":{"available":{"pets":2,"units":262},"pending":{"pets":2,"units":0},"sold":{"pets":1,"units":3},"on_loan":{"pets":1,"units":-3}}}\n';
    expect(await render('json', await summary())).toBe(text);
    expect(await render('ndjson', await summary())).toBe(text);
    expect(await render('json', await summary([]))).toBe(
      '{"pets":0,"units":0,"byStatus":{"available":{"pets":0,"units":0},"pending":{"pets":0,"units":0},"sold":{"pets":0,"units":0}}}\n',
    );
  });

  it('prints a summary as CSV and TSV', async () => {
    const text = 'available,2,262\npending,2,0\nsold,1,3\non_loan,1,-3\ntotal,6,262\n';
    expect(await render('csv', await summary())).toBe(`status,pets,units\n${text}`);
    expect(await render('tsv', await summary())).toBe(text.replaceAll(',', '\t'));
  });

  it('distinguishes a status named total from the total', async () => {
    const view = await summary([{ petId: 1n, quantity: 1, status: 'total' }]);
    expect((await render('table', view, { color: true })).split('\n').slice(-3).map(visible)).toEqual([
      'total         1   100%  ␛[36m██████████␛[39m      1',
      '␛[1mTotal␛[22m         ␛[1m1␛[22m                         ␛[1m1␛[22m',
      '',
    ]);
  });
});
