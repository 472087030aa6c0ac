import { expect, test } from 'vitest';
import { ItemColumns, StatusNames } from '../../src/inventory/item-columns.ts';
import fc, { property } from '../support/seeded-fast-check.ts';
import { itemLists } from './arbitraries.ts';
import { columnsOf } from './columns.ts';

property('returns the items that were added to columns, up to a maximum', [itemLists, fc.nat(40)], (items, most) => {
  const columns = columnsOf(items);
  expect(columns.items()).toEqual(items);
  expect(columns.items(most)).toEqual(items.slice(0, most));
});

const choices = fc.array(fc.boolean(), { minLength: 30, maxLength: 30 });
property(
  'keeps the order of items that remain after filtering and truncating',
  [itemLists, choices, fc.nat(30)],
  (items, passes, most) => {
    const columns = columnsOf(items);
    columns.keep((index) => passes[index] === true);
    const kept = items.filter((_, index) => passes[index]);
    expect(columns.items()).toEqual(kept);
    columns.truncate(most);
    expect(columns.items()).toEqual(kept.slice(0, most));
  },
);

test('numbers statuses in the order in which they appear', () => {
  const names = new StatusNames();
  expect(['sold', '', 'sold', '__proto__'].map((text) => names.codeOf(text))).toEqual([0, 1, 0, 2]);
  expect([0, 1, 2].map((code) => names.textOf(code))).toEqual(['sold', '', '__proto__']);
  expect(names.size).toBe(3);
});

test('refuses a list of more than 10,000,000 pets', () => {
  const batch = new ItemColumns(4096);
  batch.length = batch.capacity;
  const gathered = new ItemColumns(0);
  // Pretends that this many pets were already added.
  gathered.length = 10_000_000 - batch.length;
  gathered.add(batch);
  expect([gathered.length, gathered.capacity]).toEqual([10_000_000, 10_000_000]);
  batch.length = 1;
  expect(() => gathered.add(batch)).toThrow('more than 10,000,000 pets');
});
