import { LosslessNumber, parse } from 'lossless-json';
import { describe, expect, it, test } from 'vitest';
import { exactJson } from '../../src/output/exact-json.ts';
import { inventoryItemView } from '../../src/output/inventory-view.ts';
import type { Row, Scalar } from '../../src/output/view.ts';
import fc, { property } from '../support/seeded-fast-check.ts';
import { largeStock, rowLists } from './fixtures.ts';
import { itemsView, render, renderPieces, rowsView } from './render.ts';

const list = itemsView(largeStock.slice(0, 1), [], largeStock.slice(1));
const empty = itemsView([], []);
const one = inventoryItemView({ petId: 9007199254740993n, quantity: 0, status: 'sold' }, { lowStock: 5, before: -2 });
const items = [
  '{"petId":9007199254740993,"quantity":250,"status":"available"}',
  '{"petId":9223372036854775807,"quantity":0,"status":"pending"}',
];

describe('json', () => {
  it('prints a list with one item a line and every digit, at any width and with colour', async () => {
    expect(await render('json', list)).toBe(`[\n${items.join(',\n')}\n]\n`);
    expect(await render('json', list, { width: 10, color: true, header: false })).toBe(await render('json', list));
    expect(await render('json', empty)).toBe('[]\n');
  });

  it('prints one row as an object', async () => {
    expect(await render('json', one)).toBe('{"petId":9007199254740993,"quantity":0,"status":"sold","before":-2}\n');
  });

  it('prints what a row lacks as null', async () => {
    const view = rowsView([{ a: 1, b: null }, { a: true }]);
    expect(await render('json', view)).toBe('[\n{"a":1,"b":null},\n{"a":true,"b":null}\n]\n');
  });

  it('prints the value of the view instead of its rows', async () => {
    const id = new LosslessNumber('12345678901234567890.10');
    const json = { id, list: [1n, undefined], gone: undefined, no: null };
    expect(await render('json', { ...list, json })).toBe('{"id":12345678901234567890.10,"list":[1,null],"no":null}\n');
    expect(await render('json', { ...list, json: null })).toBe('null\n');
  });

  property('reads back equal, by lossless-json', [rowLists], async (rows) => {
    const text = await render('json', rowsView(rows.slice(0, 2), rows.slice(2)));
    expect(parse(text)).toEqual(rows.map(losslessRow));
    expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
  });
});

describe('ndjson', () => {
  it('prints one object a line', async () => {
    expect(await render('ndjson', list)).toBe(`${items.join('\n')}\n`);
    expect(await render('ndjson', one)).toBe(await render('json', one));
    expect(await renderPieces('ndjson', empty)).toEqual([]);
  });

  it('prints the items of the view’s own value', async () => {
    expect(await render('ndjson', { ...list, json: [{ a: 1n }, 2] })).toBe('{"a":1}\n2\n');
    expect(await render('ndjson', { ...list, json: { a: [1] } })).toBe('{"a":[1]}\n');
  });

  property('reads back equal, line by line', [rowLists], async (rows) => {
    const lines = (await render('ndjson', rowsView(rows))).split('\n').slice(0, -1);
    expect(lines.map((line) => parse(line))).toEqual(rows.map(losslessRow));
  });
});

describe('exactJson', () => {
  test.each<[unknown, string]>([
    [9223372036854775807n, '9223372036854775807'],
    [-0, '0'],
    [Number.NaN, 'null'],
    [1e21, '1e+21'],
    ['\x00\x7f\x9b\u2028\u202e"\\é😀\ud800', '"\\u0000\\u007f\\u009b\\u2028\\u202e\\"\\\\é😀\\ud800"'],
    [new Map([['b', 1n]]), '{"b":1}'],
    [new Date(0), '"1970-01-01T00:00:00.000Z"'],
    [{ isLosslessNumber: true, value: '],"x":[' }, '{"isLosslessNumber":true,"value":"],\\"x\\":["}'],
    [undefined, 'null'],
    [[[], {}], '[[],{}]'],
  ])('%o', (value, text) => expect(exactJson(value)).toBe(text));

  property('agrees with JSON.stringify on what JSON can hold', [fc.jsonValue()], (value) => {
    expect(JSON.parse(exactJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
  });
});

function losslessRow(row: Row): Record<string, unknown> {
  const number = (value: Scalar) =>
    typeof value === 'number' || typeof value === 'bigint' ? new LosslessNumber(`${value}`) : value;
  return Object.fromEntries(Object.entries(row).map(([field, value]) => [field, number(value)]));
}
