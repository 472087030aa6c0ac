import { describe, expect, it, test } from 'vitest';
import { readOnlyFields } from '../../src/inventory/item-fields.ts';
import { blank, cut, faultsOf, read, readChunks } from './reading.ts';

const change = { ...blank, line: 1, petId: 42n, quantity: 7 };

describe('readChanges of JSON', () => {
  test.each([
    ['one object', '{\n  "petId": 42,\n  "quantity": 7\n}\n', change],
    [
      'null and empty values',
      '[{"id":42,"qty":null,"delta":"","reason":"","ref":null}]',
      { ...change, quantity: undefined },
    ],
    [
      'escapes',
      String.raw`[{"\u0069d":42,"qty":7,"reason":"a\"\\\/\n\u00e9\ud83d\ude00]}","ref":"\\"}]`,
      { reason: 'a"\\/\né😀]}', ref: '\\' },
    ],
    ['an apostrophe that guards a formula in CSV', `[{"id":42,"qty":7,"reason":"'=1"}]`, { reason: "'=1" }],
    ['a status and a name that are not text', '[{"id":42,"qty":7,"status":{"a":1},"name":[1]}]', change],
    ['an array after blank lines', '\r\n\n\r[\n {"id":42,"qty":7}]', { line: 5 }],
  ])('reads JSON with %s', async (_, content, expected) => {
    expect(await read(content)).toMatchObject({ ok: true, changes: [expected] });
  });

  it('reads NDJSON with blank lines', async () => {
    const file = await read('\n{"id":1,"qty":2}\r\n\n {"id":2,"delta":3}\n');
    expect(file.ok && file.changes.map(({ line, petId }) => [line, petId])).toEqual([
      [2, 1n],
      [4, 2n],
    ]);
  });

  it('reads NDJSON with a U+2028 line separator in its first line', async () => {
    expect(await read('{"id":1,"qty":2,"reason":"\u2028"}\n{"id":2,"qty":2}\n')).toMatchObject({ ok: true });
  });

  it('finds no changes in an empty array', async () => {
    expect(await read(' [ ] ')).toMatchObject({ ok: true, changes: [], rowCount: 0 });
  });

  it('reports an empty file', async () => {
    expect(await faultsOf(' \n', { name: 'changes.json' })).toEqual(['1: the file is empty']);
  });

  const here = 'write a number, or a text in quotes';
  const optional = ['expected', 'reason', 'ref', ...readOnlyFields].join(', ');
  const known = `the fields are petId, quantity or delta, and optionally ${optional}`;
  const notQuantity = 'is not a quantity: a quantity is a whole number such as 12';
  const wrong = "can't be here: this is not JSON, or a name appears twice";
  test.each([
    ['[{"petId":1,"quantity":2', '1: the file breaks off: the value that begins here is not closed'],
    ['[{"petId":1,"quantity":2}', '1: the file breaks off: the list is not closed'],
    ['[\n{"petId":1,"quantity":2},\n', '3: the file breaks off: the list is not closed'],
    ['{"petId":1,\n"quantity":"2', '1: the file breaks off: the value that begins here is not closed'],
    ['[{"petId":1,"quantity":2},]', '1: there is a comma after the last item of the list'],
    ['[,{"petId":1,"quantity":2}]', '1: there is an extra comma'],
    ['[{"petId":1,"quantity":2}\n{"petId":2,"quantity":2}]', '2: a comma is missing before this'],
    ['[{"petId":1,"quantity":2}]\n\nx', '3: there is more text after the end of the list'],
    ['[1]', '1: there must be an object here, such as {"petId":42,"quantity":7}'],
    ['[{"petId":1,\n"quantity":2,}]', `2: "}" ${wrong}`],
    ['[{"petId":1\n"quantity":2}]', `2: ""quantity":2}" ${wrong}`],
    ['[{"petId":01}]', `1: "1}" ${wrong}`],
    ['[{"petId":1,"quantity":2,"reason":"a\tb"}]', `1: "a<U+0009>b"}" ${wrong}`],
    ['[{"petId":1,"quantity":2,"quantity":3}]', `1: "quantity":3}" ${wrong}`],
    ['{"petId":1,"quantity":2}}', `1: "}" ${wrong}`],
    ['[{"petId":1,"quantity":true}]', `1 quantity: true or false is not allowed here: ${here}`],
    ['[{"petId":1,"quantity":[2]}]', `1 quantity: a list is not allowed here: ${here}`],
    [
      '[{"petId":1,"quantity":2,"expectd":3}]',
      `1 expectd: "expectd" is not a field that petstock knows: did you mean expected?`,
    ],
    [
      '[{"petId":1,"quantity":2,"__proto__":3}]',
      `1 __proto__: "__proto__" is not a field that petstock knows: ${known}`,
    ],
    ['[{"petId":1,"Qty":12.0}]', `1 Qty: "12.0" is not a quantity: write 12, without decimals`],
    ['[{"petId":1,"quantity":2},\n{"id":"1","delta":1}]', '2: pet 1 is already on line 1'],
  ])('refuses the change file %j', async (content, fault) => {
    expect(await faultsOf(content)).toEqual([fault]);
  });

  it.each([
    ['on one line', '[{"id":1,"qty":2},{"id":2,"qty":"x"},{"id":1,"qty":2},{"id":4,}]', 'item', [2, 3, 4]],
    ['it breaks off', '[{"id":1,"qty":2},{"id":2', 'item', [2]],
    ['it is not closed', '[{"id":1,"qty":2},{"id":2,"qty":2}', 'item', [3]],
    ['a comma too many', '[{"id":1,"qty":2},,{"id":2,"qty":2}]', 'item', [2]],
    ['several items on some lines', '[\n{"id":1},{"id":"x"},\n{"id":"y"}]', 'item', [2, 3]],
    ['an item of two lines', '[{"id":1},{"id":2,\n"qty":}]', 'item', [2]],
    ['one item per line', '[{"id":1},\n{"id":"x"},{"id":"y"}]', 'line', [2, 2]],
    ['several lines in some items', '[\n{"id":1},\n{\n"id":2},\n{"id":"x"}]', 'line', [5]],
    ['several lines per item', '[{\n"id":1}, {\n"id":"x"}, {"id":"y"}]', 'line', [2, 3]],
    ['a fault before the first', '[\n,{"id":1},{"id":"x"}]', 'line', [2]],
  ])('reports faults by item if several items are on a line, else by line: %s', async (_, content, unit, places) => {
    for (const chunk of [1, 5, 6, 7, 65_536]) {
      const file = await readChunks(cut(Buffer.from(content), [chunk]));
      expect(file.unit).toBe(unit);
      expect(file.ok ? [] : file.problems.map(({ line }) => line)).toEqual(places);
    }
  });

  const noObject = 'there must be an object here, such as {"petId":42,"quantity":7}';
  const rows = '{"id":1,"qty":2},\n'.repeat(100_000);
  test.each<readonly [string, string, ...string[]]>([
    [
      'reports which item had the same pet before',
      '[{"id":1,"qty":2},{"id":1,"qty":3}]',
      '2: pet 1 is already in item 1',
    ],
    [
      'reports the same unknown field once',
      '{"id":1,"colour":1}\n{"id":2,"colour":1}\n{"id":3,"size":1}\n',
      `1 colour: "colour" is not a field that petstock knows: ${known}`,
      `3 size: "size" is not a field that petstock knows`,
    ],
    [
      'continues after a broken element',
      '[{"id":1,},\n{"id":x},\n["}"],\n{"id":3,"qty":"y"}]',
      `1: "}" ${wrong}`,
      `2: "x}" ${wrong}`,
      `3: ${noObject}`,
      `4 qty: "y" ${notQuantity}`,
    ],
    [
      'continues after a broken line',
      '{"id":1,"qty":2}\n{"id":2,"qty":\n{"id":3,"qty":"y"}\n',
      '2: the object is cut off, or has too many values',
      `3 qty: "y" ${notQuantity}`,
    ],
    ['reports text after an object', '{"id":1,"qty":2} x\n', '2: a comma is missing before this'],
    [
      'gives up if a bracket stays open',
      `[\n{"id":7,"status":{\n${rows}`,
      '2: the file breaks off: the value that begins here is not closed',
    ],
  ])('%s', async (_, content, ...faults) => expect(await faultsOf(content)).toEqual(faults));

  it('refuses values that are nested too deeply', async () => {
    const deep = '['.repeat(50_000) + ']'.repeat(50_000);
    expect(await read(`[{"id":1,"qty":2,"status":${deep}}]`)).toMatchObject({ ok: false, total: 1 });
  });
});
