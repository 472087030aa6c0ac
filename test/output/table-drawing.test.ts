import { expect, it } from 'vitest';
import { headerLine, layOut, lineWriter, measure } from '../../src/output/lanes.ts';
import { tableCells } from '../../src/output/table-cells.ts';
import { createPaint } from '../../src/output/terminal.ts';
import type { Column, Row } from '../../src/output/view.ts';
import fc from '../support/seeded-fast-check.ts';
import { render } from './render.ts';

const words = fc.string({ unit: fc.constantFrom(...'abc déö猫…·') }).map((text) => text.trim());
const remarks = fc.constantFrom('', 'low', 'out of stock');
const rows = fc.array(
  fc.record({
    id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    count: fc.maxSafeInteger(),
    remark: remarks,
    name: words,
  }),
  { minLength: 1, maxLength: 12 },
);
const columnsOf = (titles: readonly string[]): Column[] => [
  { field: 'id', title: titles[0] ?? '', align: 'right' },
  { field: 'name', title: titles[1] ?? '' },
  { field: 'count', title: titles[2] ?? '', align: 'right', cell: (value, _row, paint) => paint.red(`${value}`) },
  {
    field: 'remark',
    title: '',
    remark: true,
    cell: (value, _row, paint) => (value === '' ? '' : paint.red(`${value}`)),
  },
];

it('draws as the lines of a long table look', async () => {
  const titles = fc.array(words, { minLength: 3, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(rows, titles, fc.boolean(), fc.boolean(), async (some, names, header, color) => {
      const columns = columnsOf(names);
      const paint = await createPaint(color);
      const cells = some.map((row: Row) => tableCells(columns, row, { paint, width: undefined }));
      const layout = layOut(measure(columns, cells, header, undefined), undefined);
      const expected = (header ? headerLine(layout, paint) : '') + cells.map(lineWriter(layout)).join('');
      expect(await render('table', { shape: 'list', columns, rows: [some] }, { header, color })).toBe(expected);
    }),
  );
});
