import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it, test } from 'vitest';
import { loadRenderer } from '../../src/cli/invocation/results.ts';
import { grouped } from '../../src/inventory/items.ts';
import { inventoryItemView } from '../../src/output/inventory-view.ts';
import { headerLine, layOut, lineWriter, tableCells } from '../../src/output/layout.ts';
import { createPaint, plainPaint } from '../../src/output/terminal.ts';
import { visibleWidth } from '../../src/output/text-width.ts';
import type { Column, Row, View } from '../../src/output/view.ts';
import { itemLists } from '../inventory/arbitraries.ts';
import fc, { property } from '../support/properties.ts';
import { largeStock, stock } from './fixtures.ts';
import { itemsView, type RenderTestOptions, render, renderPieces, rowsView, visible } from './render.ts';

const table = (view: View, options?: RenderTestOptions) => render('table', view, options);

describe('a table of rows that fit', () => {
  it('aligns columns the same with colour and without', async () => {
    const colored = await table(itemsView(stock), { width: 80, color: true });
    expect(visible(colored)).toMatchInlineSnapshot(`
      "␛[1mPet ID␛[22m  ␛[1mQuantity␛[22m              ␛[1mStatus␛[22m
           1        12              ␛[32mavailable␛[39m
          42         0              ␛[33mpending␛[39m
           7         3              ␛[2msold␛[22m
           8        ␛[31m-3␛[39m  ␛[31mbelow zero␛[39m  on_loan
      "
    `);
    expect(await table(itemsView(stock), { width: 80 })).toBe(stripVTControlCharacters(colored));
  });

  it('truncates words, but not large ids, in 32 columns', async () => {
    expect(await table(itemsView(largeStock), { width: 32 })).toMatchInlineSnapshot(`
      "             Pet ID Qty Status
         9007199254740993 250 availab…
      9223372036854775807   0 pending
      "
    `);
    expect(await table(itemsView(largeStock), { width: 1 })).toContain(' 250 ava…\n');
  });

  it('does not truncate a table without a width', async () => {
    const note = 'word '.repeat(60).trim();
    expect(await table(rowsView([{ note, id: 1n }]))).toContain(`${note}  1\n`);
    const short = Array.from({ length: 200 }, (_, index) => ({ note: 'word', id: BigInt(index) }));
    expect(await table(rowsView(short, [{ note, id: 1n }]))).toContain(`${note}  `);
  });

  test.each([{}, { width: 80 }, { header: true }])(
    'prints nothing as the table of an empty list: %o',
    async (options) => {
      expect(await renderPieces('table', itemsView(), options)).toEqual([]);
      expect(await renderPieces('table', itemsView([], []), options)).toEqual([]);
    },
  );

  it('shows absent and null values as empty cells', async () => {
    const view = rowsView([
      { a: 'x', b: null, c: true },
      { a: null, b: 'y' },
    ]);
    expect(await table(view, { width: 80 })).toBe('a  b  c\nx     true\n   y\n');
  });

  it('removes control characters from values and titles of a table', async () => {
    const status = 'a\x1b]0;owned\x07b\x1b[2Jc\r\nd\u202ee\x9b31mf';
    const item = itemsView([{ petId: 1n, quantity: 9, status }]);
    expect(await table(item, { width: 80, header: false })).toBe('1  9  abc def\n');
    const view = rowsView([{ 'a\x1b[2J\nb': 'x'.repeat(20) }]);
    expect(await table(view, { width: 80 })).toBe(`a b\n${'x'.repeat(20)}\n`);
    const wrapped = `a b  ${'x'.repeat(13)}\n     ${'x'.repeat(7)}\n`;
    expect(await table({ ...view, shape: 'one' }, { width: 18 })).toBe(wrapped);
  });

  it('counts a wide character as two columns', async () => {
    const view = rowsView([
      { name: '猫のたま', id: 1n },
      { name: 'Rex 🐶', id: 2n },
      { name: 'Zoé', id: 3n },
    ]);
    expect(await table(view, { width: 80 })).toBe('name      id\n猫のたま  1\nRex 🐶    2\nZoé       3\n');
    expect(await table(view, { width: 9 })).toBe('name   id\n猫の…  1\nRex 🐶 2\nZoé    3\n');
  });

  it('prints one line for each value if a single row does not fit', async () => {
    const item = { petId: 9223372036854775807n, quantity: 0, status: 'reserved for a patient customer' };
    const view = inventoryItemView(item, { low: { standard: 5 }, before: 2 });
    expect(await table(view, { width: 100 })).toMatchInlineSnapshot(`
      "             Pet ID  Before  After  Status
      9223372036854775807       2      0  reserved for a patient customer
      "
    `);
    expect(await table(view, { width: 40 })).toMatchInlineSnapshot(`
      "Pet ID  9223372036854775807
      Before  2
      After   0
      Status  reserved for a patient customer
      "
    `);
  });
});

describe('a table of more than 200 rows', () => {
  const many = Array.from({ length: 201 }, (_, index) => ({
    petId: index === 200 ? 9223372036854775807n : BigInt(index),
    quantity: index % 9,
    status: 'available',
  }));

  it('prints whole ids in rows after the first 200', async () => {
    const endsAt = async (width: number) => {
      const lines = (await table(itemsView(many), { width })).split('\n');
      expect(lines).toHaveLength(203);
      return [...lines.slice(0, 3), ...lines.slice(-3)].join('\n');
    };
    expect(await endsAt(80)).toMatchInlineSnapshot(`
      "              Pet ID    Quantity                Status
                         0           0  out of stock  available
                         1           1  low           available
                       199           1  low           available
       9223372036854775807           2  low           available
      "
    `);
    expect(await endsAt(40)).toMatchInlineSnapshot(`
      "Pet ID  Qty       Status
           0    0  out  available
           1    1  low  available
         199    1  low  available
      9223372036854775807    2  low  available
      "
    `);
  });

  it('shows the remark of a later row even if no earlier row had a remark', async () => {
    const plenty = many.map((item) => ({ ...item, quantity: 99, status: 'a status of many words' }));
    const last = { petId: 1n, quantity: 0, status: 'available' };
    const lines = await table(itemsView([...plenty, last]), { width: 40 });
    expect(lines).toContain('99  a status of many words\n');
    expect(lines).toContain('0  out  available\n');
  });

  it('does not truncate a number in a left-aligned column', async () => {
    const rows = many.map(({ petId }) => ({ note: 'x'.repeat(50), petId }));
    const text = await table(rowsView(rows), { width: 30, header: false });
    expect(text.split('\n').slice(-2, -1)[0]).toMatch(/^x+… 9223372036854775807$/);
  });

  it('lays out a table of 201 rows like one of 200', async () => {
    const view = rowsView(many.map((item) => ({ ...item, petId: `${item.petId}`.padEnd(20) })));
    const ofFirst = rowsView(many.slice(0, 200).map((item) => ({ ...item, petId: `${item.petId}`.padEnd(20) })));
    const options = { width: 39, color: true };
    expect((await table(view, options)).startsWith(await table(ofFirst, options))).toBe(true);
  });

  it('writes whole lines in pieces, whatever the batches', async () => {
    const batches = [many.slice(0, 199), [], many.slice(199, 200), many.slice(200), many.slice(0, 1)];
    const pieces = await renderPieces('table', itemsView(...batches), { width: 80 });
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.every((piece) => piece.endsWith('\n'))).toBe(true);
    expect(pieces.join('')).toBe(await table(itemsView(batches.flat()), { width: 80 }));
  });
});

property(
  'never truncates a number, and fits any width of 53 columns or more',
  [itemLists, fc.integer({ min: 1, max: 100 }), fc.boolean()],
  async (items, width, color) => {
    const lines = (await table(itemsView(items), { width, color })).split('\n').slice(1, -1);
    expect(lines).toHaveLength(items.length);
    for (const [index, { petId, quantity }] of items.entries()) {
      expect(lines[index]).toContain(`${petId}`);
      expect(lines[index]).toContain(grouped(quantity));
      if (width >= 20 + 22 + 2 * 4 + 3) expect(visibleWidth(lines[index] ?? '')).toBeLessThanOrEqual(width);
    }
  },
);

const words = fc.string({ unit: fc.constantFrom(...'abc déö猫…·') }).map((text) => text.trim());
const id = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const remark = fc.constantFrom('', 'low', 'out of stock');
const row = fc.record({ id, count: fc.maxSafeInteger(), remark, name: words });
const rows = fc.array(row, { minLength: 1, maxLength: 12 });
const titles = fc.tuple(words, words, words);
const red: Column['cell'] = (value, _row, paint) => (value === '' ? '' : paint.red(`${value}`));

property(
  'draws a short table like a long one',
  [rows, titles, fc.boolean(), fc.boolean()],
  async (some, names, header, color) => {
    const columns: Column[] = [
      { field: 'id', title: names[0], align: 'right', cell: red },
      { field: 'name', title: names[1] },
      { field: 'count', title: names[2], align: 'right', cell: red },
      { field: 'remark', title: '', remark: true, cell: red },
    ];
    const paint = await createPaint(color);
    const cells = some.map((row: Row) => tableCells(columns, row, { paint, width: undefined }));
    const layout = layOut(columns, cells, { header, width: undefined });
    const expected = (header ? headerLine(layout, paint) : '') + cells.map(lineWriter(layout)).join('');
    expect(await render('table', { shape: 'list', columns, rows: [some] }, { header, color })).toBe(expected);
  },
);

test('does not hold back rows with more text than a screen has', async () => {
  let taken = 0;
  async function* rows() {
    for (; taken < 100; taken += 1) yield [{ petId: BigInt(taken), status: 'x'.repeat(500_000) }];
  }
  const { value } = await (await loadRenderer('table'))(
    { ...rowsView([{ petId: 1n, status: '' }]), rows: rows() },
    { header: true, width: 40, paint: plainPaint },
  )
    [Symbol.asyncIterator]()
    .next();
  expect(value).toMatch(/^petId +status\n/);
  expect(taken).toBeLessThan(5);
});
