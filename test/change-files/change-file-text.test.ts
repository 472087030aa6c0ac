import { expect, test } from 'vitest';
import { changeFileText, type ExportOptions, type ExportRow } from '../../src/change-files/change-file-text.ts';
import { rowsIn } from '../support/delimited-rows.ts';

async function textOf(rows: readonly ExportRow[], options: ExportOptions): Promise<string> {
  let text = '';
  for await (const piece of changeFileText([rows], options)) text += piece;
  return text;
}

const rows: readonly ExportRow[] = [
  { petId: 9007199254740993n, status: 'available', expected: 5, quantity: 0, reason: 'a, "b"\nc', ref: ' x' },
  { petId: -1n, status: '=cmd()', reason: "'=1", ref: '@a' },
  { petId: 2n, status: '-', reason: '', ref: "'tis" },
];

const header = 'petId,status,expected,quantity,reason,ref\n';
const first = 'available,5,0,"a, ""b""\nc"," x"\n';

test('exports CSV, or only a header if there are no rows', async () => {
  const text = `${header}9007199254740993,${first}-1,'=cmd(),,,''=1,'@a\n2,'-,,,,'tis\n`;
  expect(await textOf(rows, {})).toBe(text);
  expect(await textOf([], {})).toBe(header);
});

test('begins with a byte order mark and writes ids as formulas for a spreadsheet', async () => {
  const others = `"=""-1""",'=cmd(),,,''=1,'@a\n"=""2""",'-,,,,'tis\n`;
  expect(await textOf(rows, { spreadsheet: true })).toBe(`\ufeff${header}"=""9007199254740993""",${first}${others}`);
});

test('exports rows in pieces, before all rows are read', async () => {
  let taken = 0;
  const batches = function* () {
    for (let batch = 0; batch < 1000; batch += 1) {
      taken += 1;
      yield Array.from({ length: 100 }, (_, index) => ({ petId: BigInt(batch * 100 + index), status: 'available' }));
    }
  };
  let text = '';
  for await (const piece of changeFileText(batches())) {
    if (text === '') expect(taken).toBeLessThan(100);
    expect(piece.length).toBeLessThan(70_000);
    text += piece;
  }
  expect(text.split('\n')).toHaveLength(100_002);
});

test.each(['=1', '+1', '-1', '@a', '\t=1', '\r=1', '＝1', '＋1', '－1', '＠a'])(
  'keeps a spreadsheet from running %j, and leaves it unchanged if it is raw',
  async (reason) => {
    const rows = [{ petId: 1n, quantity: 2, reason }];
    expect(rowsIn(await textOf(rows, {}))).toEqual([{ petId: '1', quantity: '2', reason: `'${reason}` }]);
    expect(rowsIn(await textOf(rows, { raw: true }))).toEqual([{ petId: '1', quantity: '2', reason }]);
  },
);
