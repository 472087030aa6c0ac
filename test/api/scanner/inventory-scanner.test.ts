import { describe, expect, test } from 'vitest';
import { exactDecoder } from '../../../src/api/decode.ts';
import { InventoryScanner } from '../../../src/api/inventory-scanner.ts';
import { operation, outcome, parse, scan } from './readings.ts';
import { inPieces } from './spellings.ts';

function failure(text: string | Uint8Array, lengths: readonly number[] = [1000]): string {
  try {
    return `read: ${scan(inPieces(Buffer.from(text), lengths)).length} items`;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('InventoryScanner and the JSON parser', () => {
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
  ])('judges like the JSON parser whether %j is an item', (text) => {
    const body = Buffer.from(`[{"petId":7,"quantity":8,"status":"b"},${text}]`);
    const expected = outcome(() => parse(body));
    for (const lengths of [[1000], [1], [45, 7]])
      expect(outcome(() => scan(inPieces(body, lengths)))).toEqual(expected);
  });

  test('rejects a list that is cut off at any byte', () => {
    const body = Buffer.from(
      ' [{"petId":1,"quantity":2,"status":"sold"} , {"petId":3.0,"x":["]"],"quantity":4,"status":"a"}]',
    );
    for (let end = 0; end < body.length; end += 1) {
      const message = failure(body.subarray(0, end), [7]);
      expect(message).toMatch(end < 2 ? /is empty/ : /is not valid JSON: it is cut off/);
      if (end >= 2) expect(message).toContain(`after ${end} bytes`);
    }
    expect(failure(body)).toBe('read: 2 items');
  });
});

describe('errors of InventoryScanner', () => {
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
    [
      `[${one},${one.replace('2', '1.5')}]`,
      'is not valid: "quantity" of pet 1 in item 2 of the response is 1.5, which is not an integer',
    ],
    [`[${one},{}]`, 'is not valid: "petId" in item 2 of the response is missing'],
    [`[${one},null]`, 'is not valid: item 2 is not an object'],
    [`{"items":[${one}]}`, 'is not an array of inventory items'],
    ['"[]"', 'is not an array of inventory items'],
    ['', 'is empty'],
    ['\ufeff', 'is empty'],
    ['<html>', 'is HTML, not JSON'],
    ['OK', 'is not valid JSON'],
  ])('reports the fault in a list, and its position: %s', (body, told) => {
    for (const lengths of [[1000], [1], [5, 3]])
      expect(failure(body, lengths)).toBe(`The response to GET /inventory ${told}`);
  });

  test.each([
    ['in an item', Buffer.concat([Buffer.from('[{"a":"'), Buffer.of(0xff), Buffer.from('"}]')])],
    ['between items', Buffer.from([0x5b, 0xff, 0x5d])],
    ['half of a byte order mark', Buffer.from([0xef, 0xbb])],
    ['a surrogate', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ])('reports bytes that are not UTF-8: %s', (_what, body) => {
    expect(failure(body, [1])).toBe('The response from the service is not UTF-8 text');
  });

  test('counts items across chunks in an error', () => {
    const items = Array.from({ length: 25 }, () => one);
    expect(failure(`[${items.join(',')},5]`, [64])).toContain('item 26');
  });

  test('rejects an endless body that is not a list', () => {
    const scanner = new InventoryScanner(exactDecoder(operation));
    expect(() => {
      for (let turn = 0; turn < 12; turn += 1) [...scanner.read(Buffer.alloc(100_000, '<'))];
    }).toThrow('is HTML');
  });
});

test('reads an item that is larger than any chunk', () => {
  const large = `{"note":"${'x'.repeat(1_000_000)}","petId":1,"quantity":2,"status":"sold"}`;
  expect(scan(inPieces(Buffer.from(`[${large},${large}]`), [1000]))).toHaveLength(2);
});

test('rejects an item of more than 1 MiB, whether it is whole or not', () => {
  const item = `[{"note":"${'x'.repeat(1_100_000)}"`;
  for (const end of ['', ',"petId":1,"quantity":2,"status":"sold"}]'])
    expect(() => scan(inPieces(Buffer.from(item + end), [2_000_000]))).toThrow(/^Item 1 of the response to /);
});

test('keeps fewer than 2,000 statuses in a batch, however many the list has', () => {
  const scanner = new InventoryScanner(exactDecoder(operation), 500);
  expect([...scanner.read(Buffer.from('['))]).toEqual([]);
  let most = 0;
  for (let id = 0; id < 20_000; id += 1) {
    const status = id % 2 === 0 ? 'sold' : `adopted by number ${id}`;
    for (const batch of scanner.read(Buffer.from(`{"petId":${id},"quantity":1,"status":"${status}"},`))) {
      most = Math.max(most, batch.statuses.size);
      for (const { petId, status } of batch.items()) {
        expect(status).toBe(petId % 2n === 0n ? 'sold' : `adopted by number ${petId}`);
      }
    }
  }
  expect(most).toBeGreaterThan(1000);
  expect(most).toBeLessThan(2000);
});
