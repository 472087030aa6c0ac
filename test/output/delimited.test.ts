import { describe, expect, it, test } from 'vitest';
import { inventoryItemView } from '../../src/output/inventory-view.ts';
import type { Row } from '../../src/output/view.ts';
import { property } from '../support/seeded-fast-check.ts';
import { largeStock, rowLists } from './fixtures.ts';
import { itemsView, render, renderPieces, rowsView } from './render.ts';

const list = itemsView(largeStock.slice(0, 1), [], largeStock.slice(1));
const empty = itemsView();

describe('csv', () => {
  it('has a header and every digit, at any width and with colour', async () => {
    const lines = '9007199254740993,250,available\n9223372036854775807,0,pending\n';
    expect(await render('csv', list)).toBe(`petId,quantity,status\n${lines}`);
    expect(await render('csv', list, { width: 10, color: true })).toBe(`petId,quantity,status\n${lines}`);
    expect(await render('csv', list, { header: false })).toBe(lines);
    expect(await render('csv', empty)).toBe('petId,quantity,status\n');
    expect(await renderPieces('csv', empty, { header: false })).toEqual([]);
  });

  it('prints one row', async () => {
    const view = inventoryItemView({ petId: 1n, quantity: 5, status: 'sold' }, { lowStock: 5, before: 0 });
    expect(await render('csv', view)).toBe('petId,quantity,status,before\n1,5,sold,0\n');
  });

  test.each([
    ['', ''],
    ['a,b', '"a,b"'],
    ['say "no"', '"say ""no"""'],
    [' x\t', ' x\t'],
    [null, ''],
    [false, 'false'],
  ])('quotes %j as %j', async (value, text) => {
    expect(await render('csv', rowsView([{ value, n: 1 }]), { header: false })).toBe(`${text},1\n`);
  });

  test.each(['=1+2', '+1', '-1', '@x', '\t=1', '\r=1', "'=1"])('keeps a spreadsheet from running %j', async (value) => {
    const view = rowsView([{ value, n: -1 }]);
    expect(await render('csv', view, { header: false })).toMatch(/^"?'.*,-1\n$/s);
    expect(await render('csv', view, { header: false, raw: true })).not.toMatch(/^"?'[^=]/);
  });

  it('has no empty line for a row of one empty value', async () => {
    expect(await render('csv', rowsView([{ a: '' }, { a: null }, {}, { a: 'b' }]))).toBe('a\n""\n""\n""\nb\n');
  });

  it('is exact in a file, and harmless on a terminal', async () => {
    const view = rowsView([{ a: 'x\x1b[2J\u202ey\nz', b: 1 }]);
    expect(await render('csv', view, { header: false })).toBe('"x\x1b[2J\u202ey\nz",1\n');
    expect(await render('csv', view, { header: false, width: 80 })).toBe('"xy\nz",1\n');
  });

  property('reads back equal', [rowLists], async (rows) => {
    const view = rowsView(rows.slice(0, 2), rows.slice(2));
    const expected = [Object.keys(rows[0] ?? {}), ...rows.map(textValues)];
    expect(readCsv(await render('csv', view, { raw: true }))).toEqual(expected);
    const cells = readCsv(await render('csv', view));
    expect(cells.map((row) => row.map((cell) => cell.replace(/^'(?='*[=+\-@\t\r＝＋－＠])/, '')))).toEqual(expected);
    expect(cells.flat().every((cell) => !/^[=+@\t\r]|^-(?!\d)/.test(cell))).toBe(true);
  });
});

describe('tsv', () => {
  it('has no header unless told so, and every digit', async () => {
    const lines = '9007199254740993\t250\tavailable\n9223372036854775807\t0\tpending\n';
    expect(await render('tsv', list)).toBe(lines);
    expect(await render('tsv', list, { header: true })).toBe(`petId\tquantity\tstatus\n${lines}`);
    expect(await render('tsv', empty, { header: true })).toBe('petId\tquantity\tstatus\n');
    expect(await renderPieces('tsv', empty)).toEqual([]);
  });

  test.each([
    ['a\tb', 'a\\tb'],
    ['a\r\nb', 'a\\r\\nb'],
    [null, ''],
  ])('writes %j as %j', async (value, text) => {
    expect(await render('tsv', rowsView([{ value, n: 1 }]))).toBe(`${text}\t1\n`);
  });

  it('is harmless on a terminal', async () => {
    expect(await render('tsv', rowsView([{ a: 'x\x1b]0;owned\x07\x9b2Jy\r' }]), { width: 80 })).toBe('xy\n');
  });

  property('reads back equal, a row always one line', [rowLists], async (rows) => {
    const lines = (await render('tsv', rowsView(rows), { header: true })).split('\n').slice(0, -1);
    const values = lines.map((line) => line.split('\t').map(unescapeTsv));
    expect(values).toEqual([Object.keys(rows[0] ?? {}), ...rows.map(textValues)]);
  });
});

function textValues(row: Row): string[] {
  return Object.values(row).map((value) => (value === null ? '' : `${value}`));
}

function unescapeTsv(text: string): string {
  return text.replace(/\\([tnr\\])/g, (_, letter: string) => ({ t: '\t', n: '\n', r: '\r' })[letter] ?? '\\');
}

/** A tiny reader of RFC 4180 with LF line ends. */
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
