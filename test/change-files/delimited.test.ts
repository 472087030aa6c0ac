import { describe, expect, it, test } from 'vitest';
import { readOnlyFields } from '../../src/inventory/item-fields.ts';
import { blank, cut, faultsOf, read, readChunks } from './reading.ts';

const change = { ...blank, line: 2, petId: 42n, quantity: 7 };

describe('readChanges of a table', () => {
  test.each([
    ['ids as formulas', 'petId,quantity\n"=""42""",="7"\n', change],
    ['quantity and delta, one filled in', 'id,qty,delta\n42,,5\n', { ...change, quantity: undefined, delta: 5 }],
    ['an empty formula', 'petId,quantity\n42,"="""""\n', { ...change, quantity: undefined }],
    [
      'texts with quotes and line ends',
      'id,qty,reason,ref\n42,7, a  "b" ,"x, ""y""\r\nz"\n',
      { reason: ' a  "b" ', ref: 'x, "y"\r\nz' },
    ],
    ['a guarded formula', `id,qty,reason,ref\n42,7,'=1+1,''-1\n`, { reason: '=1+1', ref: "'-1" }],
    ['a text of a thousand characters', `id,qty,reason\n42,7,${'x'.repeat(1000)}\n`, { reason: 'x'.repeat(1000) }],
    ['blank columns at the end', 'petId,quantity, ,\n42,7,,\n', change],
    [
      'cells that Excel leaves out',
      'petId,status,expected,quantity,reason\n42,sold,5\n',
      { quantity: undefined, expected: 5 },
    ],
    ['an id that ends in zeros', 'petId,quantity\n1234567890123450000,7\n', { petId: 1234567890123450000n }],
    ['sep= in quotes', '"sep=|"\r\nid|qty\r\n42|7\r\n', { line: 3 }],
  ])('reads a table with %s', async (_, content, expected) => {
    expect(await read(content)).toMatchObject({ ok: true, changes: [expected] });
  });

  it('counts blank lines and quoted line ends in line numbers', async () => {
    const file = await read('\n \r\nid,qty,reason\r\n\r\n1,7,"a\r\nb\nc"\r\n,,\r\n2,7,x\r\n');
    expect(file.ok && file.changes.map(({ line }) => line)).toEqual([5, 9]);
  });

  it('keeps the status and the name of a row for display, if it has any', async () => {
    const file = await read('id,qty,status,name\n4,1, sold ,\n5,1,,\n');
    expect(file).toMatchObject({ readOnlyCells: [{ line: 2, petId: 4n, status: 'sold', name: '' }] });
  });

  it('finds no changes in a file that has only a header', async () => {
    expect(await read('petId,quantity\n')).toMatchObject({ ok: true, changes: [], rowCount: 0 });
  });

  it.each(['', '\n\n', '\ufeff', ' \r\n,,\n'])('reports an empty file: %j', async (content) => {
    expect(await faultsOf(content, { name: 'changes.csv' })).toEqual(['1: the file is empty']);
  });
});

describe('readChanges of a header', () => {
  const optional = ['expected', 'reason', 'ref', ...readOnlyFields].join(', ');
  const known = `the columns are petId, quantity or delta, and optionally ${optional}`;
  test.each([
    ['petId,quantity,expectd', `1 expectd: "expectd" is not a column that petstock knows: did you mean expected?`],
    ['petId,quantity,colour', `1 colour: "colour" is not a column that petstock knows: ${known}`],
    ['sep=,petId,quantity', `1 sep=: "sep=" is not a column that petstock knows: ${known}`],
    ['petId,qantity', `1 qantity: "qantity" is not a column that petstock knows: did you mean quantity?`],
    ['petId,quantity,\x1b[2J', `1 <U+001B>[2J: "<U+001B>[2J" is not a column that petstock knows: ${known}`],
    ['petId,quantity,petId', `1 petId: the column "petId" appears twice`],
    ['petId,quantity,Qty', `1 Qty: the columns "quantity" and "Qty" mean the same. Leave one out`],
    [
      'quantity,delta',
      '1: there is no column named petId: the first line must name the columns, such as petId,quantity,reason',
    ],
    ['petId,reason', '1: there is no column named quantity or delta'],
    ['Animal', '1: this is not a change file: the first line must name the columns, such as petId,quantity,reason'],
    [
      'sep=|\nid|qty|x,reason,ref,expected',
      `2 x,reason,ref,expected: "x,reason,ref,expected" is not a column that petstock knows: ${known}`,
    ],
  ])('refuses the header %s', async (header, fault) => expect(await faultsOf(`${header}\n`)).toEqual([fault]));

  test.each<readonly [string, string, ...string[]]>([
    [
      'has several faults, beside those of the rows',
      'petId,quantity,expectd,qty\n42,x,,\n',
      `1 expectd: "expectd" is not a column that petstock knows: did you mean expected?`,
      `1 qty: the columns "quantity" and "qty" mean the same. Leave one out`,
      `2 quantity: "x" is not a quantity: a quantity is a whole number such as 12`,
    ],
    [
      'has unknown columns, and lists the known ones once',
      'petId,quantity,colour,size\n',
      `1 colour: "colour" is not a column that petstock knows: ${known}`,
      `1 size: "size" is not a column that petstock knows`,
    ],
  ])('reports a header that %s', async (_, content, ...faults) => expect(await faultsOf(content)).toEqual(faults));

  it('reads a header that spans several lines', async () => {
    const content = Buffer.from('"petId\n";"quan\ntity"\n1;2\n');
    expect(await readChunks(cut(content, [1]))).toMatchObject({ ok: true, changes: [{ line: 4 }] });
  });
});

describe('readChanges of a row', () => {
  const rounded = 'looks like an id that a spreadsheet rounded: format the column as text and export again';
  test.each([
    ['1.23458E+18,7', `2 petId: 1.23458E+18 ${rounded}`],
    ['"1,23458E+18",7', `2 petId: 1,23458E+18 ${rounded}`],
    ['"=""1.23E+18""",7', `2 petId: 1.23E+18 ${rounded}`],
    [
      '9223372036854775808,7',
      `2 petId: "9223372036854775808" is out of range: a pet id lies between -9223372036854775808 and 9223372036854775807 (a program has probably rounded it)`,
    ],
    ['"1,234",7', `2 petId: "1,234" is not a pet id: if 1234 is meant, write it without a separator`],
    [',7', '2 petId: the pet id is missing: if this row is a total, remove it'],
    ['42,"1,800"', `2 qty: "1,800" is not a quantity: if 1800 is meant, write it without a separator`],
    ['42,1.5', `2 qty: "1.5" is not a quantity: a quantity is a whole number such as 12`],
    ["42,''-1", `2 qty: "'-1" is not a quantity: a quantity is a whole number such as 12`],
    ['42,-0', `2 qty: "-0" is not a quantity: zero has no sign, write 0`],
    ['42,=A1+1', `2 qty: "=A1+1" is not a quantity: a quantity is a whole number such as 12`],
    [
      '42,+5',
      `2 qty: "+5" is not a quantity: a quantity is the new stock and has no plus sign (a change belongs in delta)`,
    ],
    ['42,5,5', '2: there is both a quantity and a delta. Leave one out'],
    [
      '42,5,,,box of 1,800 pieces',
      '2: the row has 6 cells, but the first row has 5: put quotes around a text with a comma, and write numbers without a comma',
    ],
    ['42,5,,"a"b,"c"d,', '2: cell 4 continues after its closing quote: write a quote twice if it belongs to the text'],
    ['42,5,,,"a"b,', '2: cell 5 continues after its closing quote: write a quote twice if it belongs to the text'],
    [`42,5,,,${'x'.repeat(1001)}`, '2 reason: the text has 1001 characters: at most 1000 are allowed'],
  ])('refuses the row %s', async (row, fault) =>
    expect(await faultsOf(`petId,qty,delta,expected,reason\n${row}\n`)).toEqual([fault]),
  );

  const notQuantity = 'is not a quantity: a quantity is a whole number such as 12';
  test.each<readonly [string, string, ...string[]]>([
    [
      'a row with too many cells, and names the delimiter',
      'petId;quantity\n42;7;8\n',
      '2: the row has 3 cells, but the first row has 2: put quotes around a text with a semicolon, and write numbers without a semicolon',
    ],
    [
      'every fault of every row',
      'petId,quantity,expected\n1,x,y\n2,1.5,3\n',
      `2 quantity: "x" ${notQuantity}`,
      `2 expected: "y" ${notQuantity}`,
      `3 quantity: "1.5" ${notQuantity}`,
    ],
    [
      'a repeated pet, whatever else is wrong',
      'petId,quantity\n42,x\n7,1\n042,5\n="7",1\n42,1\n8,1\n',
      `2 quantity: "x" ${notQuantity}`,
      '4: pet 42 is already on line 2',
      '5: pet 7 is already on line 3',
      '6: pet 42 is already on line 2',
    ],
    [
      'a value in a column without a name',
      'petId,quantity,,\n1,2,,x\n2,3,,\n',
      '2: cell 4 is filled in, but its column has no name in the header',
    ],
    [
      'a last row that breaks off',
      'petId,quantity,expected\n1,2,3\n2,1',
      '3: the file breaks off here: the last line has 2 cells, but the first row has 3',
    ],
    ['nothing if a last row with fewer cells ends with a line end', 'petId,quantity,expected\n1,2,3\n2,1\n'],
  ])('reports %s', async (_, content, ...faults) => expect(await faultsOf(content)).toEqual(faults));

  it.each([
    'petId,delta\n8,',
    'petId,reason,quantity\n7,,5\n8,x,',
    'petId,quantity,delta\n8,,',
    'petId,quantity,reason\n8,5',
  ])('reads a last line without a line end as a whole one: %j', async (text) => {
    const [file, ended] = [await read(text), await read(`${text}\n`)];
    expect(file).toEqual(ended);
    expect(file.ok).toBe(true);
  });
});

describe('readChanges of a broken file', () => {
  const rows = Array.from({ length: 20 }, (_, index) => `${index + 1},3`);
  test.each([
    ['"petId,quantity"', rows.map((row) => `"${row}"`), '1: the file is all in one column'],
    [
      'petId quantity',
      rows.map((row) => row.replace(',', ' ')),
      '1: the file is all in one column, here "petId quantity"',
    ],
    ['"id;price;pieces"', rows.map((row) => `"${row.replace(',', ';2.5;')}"`), '1: the file is all in one column'],
    ['petId,quantity', [...rows, 'Summe:,60'], '22 petId: "Summe:" is not a pet id'],
  ])('reports the same fault of all rows once: %s', async (header, lines, fault) => {
    expect(await faultsOf(`${[header, ...lines].join('\n')}\n`)).toEqual([expect.stringContaining(fault)]);
  });

  const open = 'close it, or write it twice if it belongs to the text';
  const unclosed = '2: the row that begins here is longer than a megabyte: a quote is probably not closed';
  const many = '1,2,x\n'.repeat(300_000);
  test.each<readonly [string, string, ...string[]]>([
    [
      'a quote that is never closed',
      'id,qty,reason\n1,x,"a\nb"\n2,3,"c\n3,4,d\n',
      '2 qty: "x" is not a quantity: a quantity is a whole number such as 12',
      `4: a quote opens here and is never closed: ${open}`,
    ],
    [
      'a quote that stays open for a megabyte, and nothing after it',
      `id,qty,reason\n7,8,"\n${many}`,
      `2: a quote opens here and is never closed: ${open}`,
    ],
    ['a quote that is closed after more than a megabyte', `id,qty,reason\n7,8,"${many}"\n`, unclosed],
  ])('reports %s', async (_, content, ...faults) => expect(await faultsOf(content)).toEqual(faults));

  it('counts all faults, but keeps only the first thousand', async () => {
    const rows = Array.from({ length: 3000 }, (_, index) => (index % 2 === 0 ? `${index + 5},x` : '1,2'));
    const file = await read(`id,qty\n${rows.join('\n')}\n`);
    expect(file).toMatchObject({ ok: false, total: 1500 + 1499 });
    const lines = file.ok ? [] : file.problems.map(({ line }) => line);
    expect(lines).toEqual([2, ...Array.from({ length: 999 }, (_, index) => index + 4)]);
  });
});
