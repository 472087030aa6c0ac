import { LosslessNumber, parse } from 'lossless-json';
import { describe, expect, it, test } from 'vitest';
import { payloadView } from '../../src/cli/commands/payloads.ts';
import { inventoryItemView } from '../../src/output/inventory-view.ts';
import { exactJson } from '../../src/output/json-format.ts';
import type { Format, Row, View } from '../../src/output/view.ts';
import { JsonNumber, parseJson } from '../../src/shared/json.ts';
import fc, { property } from '../support/properties.ts';
import { largeStock, rowLists } from './fixtures.ts';
import { itemsView, type RenderTestOptions, render, renderPieces, rowsView } from './render.ts';

const list = itemsView(largeStock.slice(0, 1), [], largeStock.slice(1));
const empty = itemsView([], []);
const one = inventoryItemView(
  { petId: 9007199254740993n, quantity: 0, status: 'sold' },
  { low: { standard: 5 }, before: -2 },
);
const lacking = rowsView([{ a: 1, b: null }, { a: true }]);
const own = { id: new JsonNumber('12345678901234567890.10'), list: [1n, undefined], gone: undefined, no: null };

/** Returns the view of a response whose shape the specification leaves undefined. */
const payload = (json: string): View => payloadView(parseJson(json)) ?? rowsView();
const exact = '{"id":9223372036854775807,"price":1.10,"tags":["a",{"b":1e400}]}';
const wide = `{"id":9223372036854775807,"text":"${'long '.repeat(20)}"}`;

const header = 'petId,quantity,status\n';
const lines = '9007199254740993,250,available\n9223372036854775807,0,pending\n';
const tabs = lines.replaceAll(',', '\t');
const items = [
  '{"petId":9007199254740993,"quantity":250,"status":"available"}',
  '{"petId":9223372036854775807,"quantity":0,"status":"pending"}',
];
const object = '{"petId":9007199254740993,"quantity":0,"status":"sold","before":-2}\n';

test.each<[Format, string, View, RenderTestOptions, string]>([
  ['json', 'a list with one item per line and every digit', list, {}, `[\n${items.join(',\n')}\n]\n`],
  [
    'json',
    'the same list, whatever the width and colour',
    list,
    { width: 10, color: true, header: false },
    `[\n${items.join(',\n')}\n]\n`,
  ],
  ['json', 'an empty list', empty, {}, '[]\n'],
  ['json', 'one row as an object', one, {}, object],
  ['json', 'missing values as null', lacking, {}, '[\n{"a":1,"b":null},\n{"a":true,"b":null}\n]\n'],
  [
    'json',
    'the value of the view instead of its rows',
    { ...list, json: own },
    {},
    '{"id":12345678901234567890.10,"list":[1,null],"no":null}\n',
  ],
  ['json', 'null', { ...list, json: null }, {}, 'null\n'],
  ['ndjson', 'a list as one object per line', list, {}, `${items.join('\n')}\n`],
  ['ndjson', 'one row', one, {}, object],
  ['ndjson', 'nothing for an empty list', empty, {}, ''],
  ['ndjson', 'the items of the value of the view', { ...list, json: [{ a: 1n }, 2] }, {}, '{"a":1}\n2\n'],
  ['ndjson', 'the value of the view', { ...list, json: { a: [1] } }, {}, '{"a":[1]}\n'],
  ['csv', 'a list with a header and every digit', list, {}, header + lines],
  ['csv', 'the same list, whatever the width and colour', list, { width: 10, color: true }, header + lines],
  ['csv', 'a list without a header', list, { header: false }, lines],
  ['csv', 'the header of an empty list', empty, {}, header],
  ['csv', 'nothing for an empty list', empty, { header: false }, ''],
  ['csv', 'one row', one, {}, 'petId,quantity,status,before\n9007199254740993,0,sold,-2\n'],
  [
    'csv',
    'no empty line for an empty value',
    rowsView([{ a: '' }, { a: null }, {}, { a: 'b' }]),
    {},
    'a\n""\n""\n""\nb\n',
  ],
  ['tsv', 'a list without a header, with every digit', list, {}, tabs],
  ['tsv', 'a list with a header', list, { header: true }, 'petId\tquantity\tstatus\n'.concat(tabs)],
  ['tsv', 'the header of an empty list', empty, { header: true }, 'petId\tquantity\tstatus\n'],
  ['tsv', 'nothing for an empty list', empty, {}, ''],
  ['tsv', 'a payload', payload('{"id":9223372036854775807,"name":"Rex"}'), {}, '9223372036854775807\tRex\n'],
  ['tsv', 'a list of payloads', payload('[{"id":1},{"name":"Rex","id":2}]'), {}, '1\t\n2\tRex\n'],
  ['tsv', 'an object in a payload', payload('{"owner":{"id":7}}'), {}, '{"id":7}\n'],
  [
    'tsv',
    'any value in a payload',
    payload('{"price":1.10,"tags":["a",9007199254740993],"gone":null,"ok":true}'),
    {},
    '1.10\t["a",9007199254740993]\t\ttrue\n',
  ],
  ['json', 'a payload as it is, with every digit', payload(exact), {}, `${exact}\n`],
])('prints in the format %s: %s', async (format, _what, view, options, text) => {
  const pieces = await renderPieces(format, view, options);
  expect(pieces.join('')).toBe(text);
  expect(pieces).not.toContain('');
});

test.each(['1', '"text"', 'null', '[1,2]', '[{"a":1},2]', '[[1]]'])('has no columns for the payload %s', (json) => {
  expect(payloadView(parseJson(json))).toBeUndefined();
});

test('does not truncate an id of a payload in a narrow table', async () => {
  expect(await render('table', payload(wide), { width: 40 })).toContain('9223372036854775807');
});

describe('csv', () => {
  test.each([
    ['', ''],
    ['a,b', '"a,b"'],
    ['say "no"', '"say ""no"""'],
    [' x\t', '" x\t"'],
    [null, ''],
    [false, 'false'],
  ])('writes %j as %j in CSV', async (value, text) => {
    expect(await render('csv', rowsView([{ value, n: 1 }]), { header: false })).toBe(`${text},1\n`);
  });

  test.each(['=1+2', '+1', '-1', '@x', '\t=1', '\r=1', "'=1"])(
    'keeps a spreadsheet from running %j in CSV, unless --raw is given',
    async (value) => {
      const view = rowsView([{ value, n: -1 }]);
      expect(await render('csv', view, { header: false })).toMatch(/^"?'.*,-1\n$/s);
      expect(await render('csv', view, { header: false, raw: true })).not.toMatch(/^"?'[^=]/);
    },
  );

  it('writes CSV unchanged to a file, and without control characters to a terminal', async () => {
    const view = rowsView([{ a: 'x\x1b[2J\u202ey\nz', b: 1 }]);
    expect(await render('csv', view, { header: false })).toBe('"x\x1b[2J\u202ey\nz",1\n');
    expect(await render('csv', view, { header: false, width: 80 })).toBe('"xy\nz",1\n');
  });

  property('reads back rows unchanged from CSV', [rowLists], async (rows) => {
    const view = rowsView(rows.slice(0, 2), rows.slice(2));
    const expected = [Object.keys(rows[0] ?? {}), ...rows.map(textValues)];
    expect(readCsv(await render('csv', view, { raw: true }))).toEqual(expected);
    const cells = readCsv(await render('csv', view));
    expect(cells.map((row) => row.map((cell) => cell.replace(/^'(?='*[=+\-@\t\r＝＋－＠])/, '')))).toEqual(expected);
    expect(cells.flat().every((cell) => !/^[=+@\t\r]|^-(?!\d)/.test(cell))).toBe(true);
  });
});

describe('tsv', () => {
  test.each([
    ['a\tb', 'a\\tb'],
    ['a\r\nb', 'a\\r\\nb'],
    [null, ''],
  ])('writes %j as %j in TSV', async (value, text) => {
    expect(await render('tsv', rowsView([{ value, n: 1 }]))).toBe(`${text}\t1\n`);
  });

  it('strips control characters from TSV on a terminal', async () => {
    expect(await render('tsv', rowsView([{ a: 'x\x1b]0;owned\x07\x9b2Jy\r' }]), { width: 80 })).toBe('xy\n');
  });

  property('reads back rows unchanged from TSV, with one line per row', [rowLists], async (rows) => {
    const lines = (await render('tsv', rowsView(rows), { header: true })).split('\n').slice(0, -1);
    const values = lines.map((line) => line.split('\t').map(unescapeTsv));
    expect(values).toEqual([Object.keys(rows[0] ?? {}), ...rows.map(textValues)]);
  });
});

describe('json', () => {
  property('reads back rows unchanged from JSON, as a list and line by line', [rowLists], async (rows) => {
    const text = await render('json', rowsView(rows.slice(0, 2), rows.slice(2)));
    expect(parse(text)).toEqual(rows.map(losslessRow));
    expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
    expect(await render('ndjson', rowsView(rows))).toBe(text.slice(2, -3).replaceAll('},\n{', '}\n{').concat('\n'));
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
  ])('writes %o as JSON', (value, text) => expect(exactJson(value)).toBe(text));

  property('prints a JSON value as JSON.stringify does', [fc.jsonValue()], (value) => {
    expect(JSON.parse(exactJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
  });
});

function losslessRow(row: Row): Record<string, unknown> {
  const number = (value: unknown) =>
    typeof value === 'number' || typeof value === 'bigint' ? new LosslessNumber(`${value}`) : value;
  return Object.fromEntries(Object.entries(row).map(([field, value]) => [field, number(value)]));
}

function textValues(row: Row): string[] {
  return Object.values(row).map((value) => (value === null ? '' : `${value}`));
}

function unescapeTsv(text: string): string {
  return text.replace(/\\([tnr\\])/g, (_, letter: string) => ({ t: '\t', n: '\n', r: '\r' })[letter] ?? '\\');
}

/** Parses CSV as in RFC 4180, but with LF line ends. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, bare, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n)/g)) {
    row.push(quoted === undefined ? (bare ?? '') : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}
