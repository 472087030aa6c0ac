import { describe, expect, test } from 'vitest';
import { readItems } from '../../../src/api/read-items.ts';
import { operation, outcome, parse, read } from './readings.ts';
import { inPieces } from './spellings.ts';

async function failure(text: string | Uint8Array, lengths: readonly number[] = [1000]): Promise<string> {
  try {
    return `read: ${(await read(inPieces(Buffer.from(text), lengths))).length} items`;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('reading a list in parts', () => {
  const control = Array.from(
    { length: 33 },
    (_, code) => `{"petId":1,"quantity":2,"status":"a${String.fromCharCode(code)}b"}`,
  );
  const numbers = [
    ...'0 -0 01 -01 00 - +1 1. .5 1e 1e1 1e-1 1_0 0x1 １ "" null 999999999 1000000000 -1000000000'.split(' '),
    ...'999999999999999 1000000000000000 9007199254740991 9007199254740992 -9007199254740991'.split(' '),
    ...'-9007199254740992 999999999999999999 1000000000000000000 9223372035999999999 9223372036000000000'.split(' '),
    ...'9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809'.split(' '),
    ...'9999999999999999999 10000000000000000000'.split(' '),
    ...'1e-400 -1e-999 0.00000000000000000001 4.9999999999999999999 1e400 0e-999'.split(' '),
    '1 2',
    '1'.repeat(40),
  ];
  const shapes = [
    '{}',
    '{"petId":1}',
    '{"petId":1,"quantity":2}',
    '{"petId":1,"status":"a"}',
    '{"quantity":2,"status":"a"}',
    '{"petId":1,"quantity":2,"status":"a",}',
    '{,"petId":1,"quantity":2,"status":"a"}',
    '{"petId":1 "quantity":2,"status":"a"}',
    '{"petId" : 1 , "quantity" :2,"status": "a" }',
    '{"petId":1,"quantity":2,"status":"a","a":1}',
    '{"petid":1,"quantity":2,"status":"a"}',
    '{"petIds":1,"petId":1,"quantity":2,"status":"a"}',
    '{"petId":1,"quantity":2,"status":"a"]',
    '{"petId":1,"quantity":2,"status":a}',
    '{"petId":1,"quantity":2,"status":1}',
  ];

  test.each([
    ...numbers.map((number) => `{"petId":${number},"quantity":2,"status":"a"}`),
    ...numbers.map((number) => `{"petId":1,"quantity":${number},"status":"a"}`),
    ...control,
    ...shapes,
  ])('judges like the exact parser whether %j is an item', async (text) => {
    const body = Buffer.from(`[{"petId":7,"quantity":8,"status":"b"},${text}]`);
    const expected = await outcome(() => parse(body));
    for (const lengths of [[1000], [1], [45, 7]])
      expect(await outcome(() => read(inPieces(body, lengths)))).toEqual(expected);
  });

  test('rejects a list that is cut off at any byte', async () => {
    const body = Buffer.from(
      ' [{"petId":1,"quantity":2,"status":"sold"} , {"petId":3.0,"x":["]"],"quantity":4,"status":"a"}]',
    );
    for (let end = 0; end < body.length; end += 1) {
      const message = await failure(body.subarray(0, end), [7]);
      expect(message).toMatch(end < 2 ? /is empty/ : /is not valid JSON: it is cut off/);
      if (end >= 2) expect(message).toContain(`after ${end} bytes`);
    }
    expect(await failure(body)).toBe('read: 2 items');
  });
});

describe('errors in a list', () => {
  const one = '{"petId":1,"quantity":2,"status":"sold"}';
  test.each([
    ['[1 2]', 'is not valid: item 1 is not an object'],
    [`[${one}${one}]`, 'is not valid JSON at byte 41'],
    [`[${one},]`, 'is not valid JSON at byte 42'],
    [`[,${one}]`, 'is not valid JSON at byte 1'],
    [`[${one}]]`, 'is not valid JSON at byte 42'],
    [`[${one}] x`, 'is not valid JSON at byte 43'],
    [`[${one},{"é":1,"petId":01}]`, 'is not valid JSON at byte 59'],
    [`[${one},{"petId":1,"petId":2,"quantity":1,"status":"a"}]`, 'is not valid JSON at byte 54'],
    [`[${one},${one.replace('2', '1.5')}]`, 'is not valid: "quantity" in item 2 of the response is not an integer'],
    [`[${one},{}]`, 'is not valid: "petId" in item 2 of the response is missing'],
    [`[${one},null]`, 'is not valid: item 2 is not an object'],
    [`{"items":[${one}]}`, 'is not an array of inventory items'],
    ['"[]"', 'is not an array of inventory items'],
    ['', 'is empty'],
    ['\ufeff', 'is empty'],
    ['<html>', 'is HTML, not JSON'],
    ['OK', 'is not valid JSON'],
  ])('reports the fault in a list, and its position: %s', async (body, told) => {
    for (const lengths of [[1000], [1], [5, 3]])
      expect(await failure(body, lengths)).toBe(`The response to GET /inventory ${told}`);
  });

  test.each([
    ['in an item', Buffer.concat([Buffer.from('[{"a":"'), Buffer.of(0xff), Buffer.from('"}]')])],
    ['between items', Buffer.from([0x5b, 0xff, 0x5d])],
    ['half of a byte order mark', Buffer.from([0xef, 0xbb])],
    ['a surrogate', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ])('reports bytes that are not UTF-8: %s', async (_what, body) => {
    expect(await failure(body, [1])).toBe('The response from the service is not UTF-8 text');
  });

  test('counts items across chunks in an error', async () => {
    const items = Array.from({ length: 25 }, () => one);
    expect(await failure(`[${items.join(',')},5]`, [64])).toContain('item 26');
  });

  test('rejects an endless body that is not a list', async () => {
    let sent = 0;
    async function* endless() {
      for (;;) {
        sent += 100_000;
        yield Buffer.alloc(100_000, '<');
      }
    }
    await expect(readItems(endless(), operation).next()).rejects.toThrow('is HTML');
    expect(sent).toBeLessThan(2_000_000);
  });

  test('rejects an endless item', async () => {
    let sent = 0;
    async function* endless() {
      yield Buffer.from(`[${one},{"note":"`);
      for (;;) {
        sent += 1_000_000;
        yield Buffer.alloc(1_000_000, 'x');
      }
    }
    const items = readItems(endless(), operation);
    await expect(async () => {
      for await (const _ of items);
    }).rejects.toThrow('Item 2 of the response to GET /inventory exceeds the maximum of 16 MiB');
    expect(sent).toBeLessThan(40_000_000);
  });
});

test('reads an item that is larger than any chunk', async () => {
  const large = `{"note":"${'x'.repeat(1_000_000)}","petId":1,"quantity":2,"status":"sold"}`;
  expect(await read(inPieces(Buffer.from(`[${large},${large}]`), [1000]))).toHaveLength(2);
});
