import { expect, test } from 'vitest';
import { StatusNames } from '../../src/inventory/item-columns.ts';
import fc, { property } from '../support/seeded-fast-check.ts';
import { itemLists } from './arbitraries.ts';
import { columnsOf } from './columns.ts';

property('items come back as they were', [itemLists, fc.nat(40)], (items, most) => {
  const columns = columnsOf(items);
  expect(columns.items()).toEqual(items);
  expect(columns.items(most)).toEqual(items.slice(0, most));
});

property(
  'keep and truncate leave the others in their order',
  [itemLists, fc.array(fc.boolean(), { minLength: 30, maxLength: 30 }), fc.nat(30)],
  (items, passes, most) => {
    const columns = columnsOf(items);
    columns.keep((index) => passes[index] === true);
    const kept = items.filter((_, index) => passes[index]);
    expect(columns.items()).toEqual(kept);
    columns.truncate(most);
    expect(columns.items()).toEqual(kept.slice(0, most));
  },
);

test('statuses are numbered as they appear', () => {
  const names = new StatusNames();
  expect(['sold', '', 'sold', '__proto__'].map((text) => names.codeOf(text))).toEqual([0, 1, 0, 2]);
  expect([0, 1, 2].map((code) => names.textOf(code))).toEqual(['sold', '', '__proto__']);
  expect(names.size).toBe(3);
});
