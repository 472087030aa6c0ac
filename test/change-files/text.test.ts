import { describe, expect, it, test } from 'vitest';
import { readChanges } from '../../src/change-files/read-changes.ts';
import type { ChangeFormat } from '../../src/change-files/read-rows.ts';
import { cut, faultLines, faultsOf, readChunks } from './reading.ts';

const saveAgain = 'save it as UTF-8 (in a spreadsheet: Save as, "CSV UTF-8") and try again';
const table = 'petId,quantity,reason\n42,7,é\n';

describe('readChanges of what is not UTF-8', () => {
  const marked = Buffer.from(`\ufeff${table}`, 'utf16le');
  test.each([
    ['UTF-16LE', marked, '1: the file is UTF-16 ("Unicode text")'],
    ['UTF-16BE', Buffer.from(marked).swap16(), '1: the file is UTF-16 ("Unicode text")'],
    ['UTF-16LE without a mark', marked.subarray(2), '1: there are characters that are not UTF-8'],
    ['Latin-1', Buffer.from(table, 'latin1'), '2: there are characters that are not UTF-8'],
    ['text cut off in a character', Buffer.from(table).subarray(0, -2), '2: there are characters that are not UTF-8'],
    ['a workbook', Buffer.from('PK\x03\x04\x14\x00'), '1: the file is a workbook (.xlsx) or an archive, not text'],
    ['an old workbook', Buffer.from('d0cf11e0a1b1', 'hex'), '1: the file is a workbook (.xls), not text'],
  ])('refuses %s as a change file', async (_, bytes, fault) => {
    expect(await faultsOf(bytes)).toEqual([`${fault}: ${saveAgain}`]);
    expect(faultLines(await readChunks(cut(bytes, [1])))).toEqual([`${fault}: ${saveAgain}`]);
  });

  it('reports the faults of earlier lines before text that is not UTF-8', async () => {
    const bytes = Buffer.concat([Buffer.from('id,qty,reason\r\n1,x,é\r\n2,3,'), Buffer.from('é\r\n', 'latin1')]);
    expect(await faultsOf(bytes)).toEqual([
      `2 qty: "x" is not a quantity: a quantity is a whole number such as 12`,
      `3: there are characters that are not UTF-8: ${saveAgain}`,
    ]);
  });

  it('reports the line of an invalid byte far into the file', async () => {
    const rows = Buffer.from(Array.from({ length: 30_000 }, (_, index) => `${index},1\r\n`).join(''));
    const bytes = Buffer.concat([Buffer.from('id,qty\r\n'), rows, Buffer.from([0xff])]);
    expect(await faultsOf(bytes)).toEqual([`30002: there are characters that are not UTF-8: ${saveAgain}`]);
  });

  it('keeps a byte order mark that is not at the start', async () => {
    const content = Buffer.from('id,qty,reason\n42,7,x\ufeffy\n');
    for (let length = 15; length < content.length; length += 1) {
      expect(await readChunks(cut(content, [length]))).toMatchObject({ changes: [{ reason: 'x\ufeffy' }] });
    }
  });

  it('reads characters that are split between two pieces', async () => {
    const content = Buffer.from('id,qty,reason\n42,7,é€😀é€😀\n');
    for (const length of [1, 9, 10, 11, 12, 13]) {
      expect(await readChunks(cut(content, [length]))).toMatchObject({ ok: true, changes: [{ reason: 'é€😀é€😀' }] });
    }
  });
});

describe('readChanges by format', () => {
  const array = '[{"id":42,"qty":7}]';
  const lines = '{"id":42,"qty":7}\n{"id":43,"qty":7}\n';
  const isTable = 'this is JSON, not a table with columns: add --format json';
  const isJson = 'this is not JSON: JSON begins with [ or {. For a table with columns, add --format csv';

  const inputs: readonly (readonly [string | undefined, ChangeFormat | undefined, string, string | undefined])[] = [
    ['a.CSV', undefined, 'id\tqty\n42\t7\n', undefined],
    ['a.tsv', undefined, table, undefined],
    ['a.json', undefined, lines, undefined],
    ['a.jsonl', undefined, array, undefined],
    [undefined, undefined, table, undefined],
    [undefined, undefined, array, undefined],
    ['export', undefined, lines, undefined],
    ['folder.json/export', undefined, table, undefined],
    ['a.csv', 'json', array, undefined],
    ['a.json', 'csv', table, undefined],
    ['a.csv', undefined, `\n${array}`, `2: ${isTable}`],
    ['a.csv', undefined, lines, `1: ${isTable}`],
    [undefined, 'tsv', array, `1: ${isTable}`],
    ['a.json', undefined, table, `1: ${isJson}`],
    [undefined, 'ndjson', `\n\n${table}`, `3: ${isJson}`],
  ];
  const nameOf = (text = 'no name', format = 'none') => `${text}, --format ${format}`;
  test.each(inputs.map((input) => [nameOf(input[0], input[1]), input[2].slice(0, 20), input] as const))(
    'decides by name, --format and content how to read a file: %s: %j',
    async (_what, _start, [name, format, content, fault]) => {
      const faults = await faultsOf(content, { name, format });
      expect(faults).toEqual(fault === undefined ? [] : [fault]);
    },
  );

  it('reads NDJSON line by line even if the first line is broken', async () => {
    expect(await faultsOf('{"id":1,"qty":2\n{"id":2,"qty":x}\n', { format: 'ndjson' })).toHaveLength(2);
  });
});

describe('readChanges of a source', () => {
  const unnamed = { name: undefined, format: undefined };

  it('reads rows that arrive at once and exceed a megabyte together', async () => {
    const status = 'x'.repeat(600_000);
    const rows = [1, 2].map((id) => ({ id, qty: 7, status }));
    const text = `id,qty,status\n${rows.map((row) => Object.values(row).join()).join('\n')}\n`;
    for (const content of [text, JSON.stringify(rows)]) expect(await faultsOf(content)).toEqual([]);
  });

  it('rejects with the error of a source that fails', async () => {
    const failing = async function* () {
      yield Buffer.from('id,qty\n');
      throw new Error('the cable is out');
    };
    await expect(readChanges(failing(), unnamed)).rejects.toThrow('the cable is out');
  });

  it("closes the source if the file can't be read", async () => {
    let closed = false;
    const source = async function* () {
      try {
        yield Buffer.from([0xff, 0xfe, 0, 0, 0, 0, 0, 0, 0, 0]);
        yield Buffer.from('never read');
      } finally {
        closed = true;
      }
    };
    expect((await readChanges(source(), unnamed)).ok).toBe(false);
    expect(closed).toBe(true);
  });
});

test.each(['petId,quantity\r\n42,7\r\n\x1a', 'petId,quantity\r\n42,7\x1a\x1a\x1a', '{"petId":42,"quantity":7}\n\x1a'])(
  'leaves out the Ctrl-Z with which DOS ends a file: %j',
  async (text) => {
    const file = await readChunks([Buffer.from(text)]);
    expect(file).toMatchObject({ ok: true, changes: [{ petId: 42n, quantity: 7 }] });
  },
);
