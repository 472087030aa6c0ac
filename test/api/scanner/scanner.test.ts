import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeItems, decodeJson, exactDecoder } from '../../../src/api/decode.ts';
import { InventoryScanner } from '../../../src/api/scanner/scanner.ts';
import { decodeUtf8 } from '../../../src/api/utf8.ts';
import type { InventoryItem } from '../../../src/inventory/items.ts';
import { FailureError } from '../../../src/shared/errors.ts';
import { inPieces, spelledList } from './spellings.ts';

const operation = { name: 'GET /inventory' };

/** What the scanner reads of a body that comes in pieces. */
function scan(pieces: readonly Uint8Array[], size = 3): InventoryItem[] {
  const scanner = new InventoryScanner(exactDecoder(operation), size);
  const items: InventoryItem[] = [];
  for (const piece of pieces) {
    scanner.add(piece);
    while (scanner.fill()) {
      expect(scanner.batch.length).toBe(size);
      items.push(...scanner.batch.items());
    }
  }
  scanner.finish();
  return [...items, ...scanner.batch.items()];
}

/** What a parser makes of the body as a whole. */
function parse(body: Uint8Array): InventoryItem[] {
  return decodeItems(decodeJson(decodeUtf8(body), operation), operation);
}

/** The items, or the failure in a form that says no more than that it is one. */
function outcome(read: () => InventoryItem[]): InventoryItem[] | 'refused' {
  try {
    return read();
  } catch (error) {
    expect(error).toBeInstanceOf(FailureError);
    return 'refused';
  }
}

function failure(text: string | Uint8Array, lengths: readonly number[] = [1000]): string {
  try {
    return `read: ${scan(inPieces(Buffer.from(text), lengths)).length} items`;
  } catch (error) {
    return (error as Error).message;
  }
}

const pieceLengths = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 6 });
const sizes = fc.integer({ min: 1, max: 5 });

describe('the scanner reads what the parser reads', () => {
  test('any spelling of any items, in any pieces', () => {
    fc.assert(
      fc.property(spelledList, pieceLengths, sizes, ({ items, text }, lengths, size) => {
        const body = Buffer.from(text);
        expect(scan(inPieces(body, lengths), size)).toEqual(items);
        expect(parse(body)).toEqual(items);
      }),
      { numRuns: 500 },
    );
  });

  const changes = fc.array(
    fc.record({
      at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      remove: fc.integer({ min: 0, max: 2 }),
      insert: fc.oneof(
        fc.string({ unit: fc.constantFrom(...'[]{},:" \\0-.e1a\n'), maxLength: 2 }).map((text) => Buffer.from(text)),
        fc.uint8Array({ maxLength: 2 }),
      ),
    }),
    { minLength: 1, maxLength: 3 },
  );

  test('and where bytes have been changed, both accept it or both refuse it', () => {
    let accepted = 0;
    fc.assert(
      fc.property(spelledList, changes, pieceLengths, sizes, ({ text }, edits, lengths, size) => {
        let body = Buffer.from(text);
        for (const { at, remove, insert } of edits) {
          const place = Math.floor(at * body.length);
          body = Buffer.concat([body.subarray(0, place), insert, body.subarray(place + remove)]);
        }
        const expected = outcome(() => parse(body));
        expect(outcome(() => scan(inPieces(body, lengths), size))).toEqual(expected);
        if (expected !== 'refused') accepted += 1;
      }),
      { numRuns: 1000 },
    );
    expect(accepted).toBeGreaterThan(10);
  });

  const control = Array.from(
    { length: 33 },
    (_, code) => `{"petId":1,"quantity":2,"status":"a${String.fromCharCode(code)}b"}`,
  );
  const numbers = [
    ...[
      '0',
      '-0',
      '01',
      '-01',
      '00',
      '-',
      '+1',
      '1.',
      '.5',
      '1e',
      '1e1',
      '1e-1',
      '1 2',
      '1_0',
      '0x1',
      '１',
      '""',
      'null',
    ],
    ...['999999999', '1000000000', '-1000000000', '999999999999999', '1000000000000000', '9007199254740991'],
    ...['9007199254740992', '-9007199254740991', '-9007199254740992', '999999999999999999', '1000000000000000000'],
    ...['9223372035999999999', '9223372036000000000', '9223372036854775807', '9223372036854775808'],
    ...['-9223372036854775808', '-9223372036854775809', '9999999999999999999', '10000000000000000000', '1'.repeat(40)],
  ];
  const shapes = [
    ...['{}', '{"petId":1}', '{"petId":1,"quantity":2}', '{"petId":1,"status":"a"}', '{"quantity":2,"status":"a"}'],
    ...[
      '{"petId":1,"quantity":2,"status":"a",}',
      '{,"petId":1,"quantity":2,"status":"a"}',
      '{"petId":1 "quantity":2,"status":"a"}',
    ],
    ...['{"petId" : 1 , "quantity" :2,"status": "a" }', '{"petId":1,"quantity":2,"status":"a","a":1}'],
    ...['{"petid":1,"quantity":2,"status":"a"}', '{"petIds":1,"petId":1,"quantity":2,"status":"a"}'],
    ...[
      '{"petId":1,"quantity":2,"status":"a"]',
      '{"petId":1,"quantity":2,"status":a}',
      '{"petId":1,"quantity":2,"status":1}',
    ],
  ];

  test.each([
    ...numbers.map((number) => `{"petId":${number},"quantity":2,"status":"a"}`),
    ...numbers.map((number) => `{"petId":1,"quantity":${number},"status":"a"}`),
    ...control,
    ...shapes,
  ])('whether it is almost an item or one: %j', (text) => {
    const body = Buffer.from(`[{"petId":7,"quantity":8,"status":"b"},${text}]`);
    const expected = outcome(() => parse(body));
    for (const lengths of [[1000], [1], [45, 7]])
      expect(outcome(() => scan(inPieces(body, lengths)))).toEqual(expected);
  });

  test('a list that ends too early is refused wherever it ends', () => {
    const body = Buffer.from(
      ' [{"petId":1,"quantity":2,"status":"sold"} , {"petId":3.0,"x":["]"],"quantity":4,"status":"a"}]',
    );
    for (let end = 0; end < body.length; end += 1) {
      const message = failure(body.subarray(0, end), [7]);
      expect(message).toMatch(end < 2 ? /is empty/ : /is not valid JSON: it ends in the middle/);
      if (end >= 2) expect(message).toContain(`after ${end} bytes`);
    }
    expect(failure(body)).toBe('read: 2 items');
  });
});

describe('what is wrong, and where', () => {
  const one = '{"petId":1,"quantity":2,"status":"sold"}';
  test.each([
    ['[1 2]', 'has no object for item 1 of the inventory item'],
    [`[${one}${one}]`, 'is not valid JSON at byte 41'],
    [`[${one},]`, 'is not valid JSON at byte 42'],
    [`[,${one}]`, 'is not valid JSON at byte 1'],
    [`[${one}]]`, 'is not valid JSON at byte 42'],
    [`[${one}] x`, 'is not valid JSON at byte 43'],
    [`[${one},{"é":1,"petId":01}]`, 'is not valid JSON at byte 59'],
    [`[${one},{"petId":1,"petId":2,"quantity":1,"status":"a"}]`, 'is not valid JSON at byte 54'],
    [`[${one},${one.replace('2', '1.5')}]`, 'makes no sense: "quantity" in item 2 of the answer is not an integer'],
    [`[${one},{}]`, 'makes no sense: "petId" in item 2 of the answer is missing'],
    [`[${one},null]`, 'has no object for item 2 of the inventory item'],
    [`{"items":[${one}]}`, 'is not an array of inventory items'],
    ['"[]"', 'is not an array of inventory items'],
    ['', 'is empty, where JSON was expected'],
    ['\ufeff', 'is empty, where JSON was expected'],
    ['<html>', 'is HTML, where JSON was expected'],
    ['OK', 'is not valid JSON, where JSON was expected'],
  ])('%s', (body, told) => {
    for (const lengths of [[1000], [1], [5, 3]])
      expect(failure(body, lengths)).toBe(`The answer to GET /inventory ${told}`);
  });

  test.each([
    ['in an item', Buffer.concat([Buffer.from('[{"a":"'), Buffer.of(0xff), Buffer.from('"}]')])],
    ['between items', Buffer.from([0x5b, 0xff, 0x5d])],
    ['half of a byte order mark', Buffer.from([0xef, 0xbb])],
    ['a surrogate', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ])('no UTF-8: %s', (_what, body) => {
    expect(failure(body, [1])).toBe('The answer of the service is not UTF-8 text');
  });

  test('the item is counted over all batches', () => {
    const items = Array.from({ length: 25 }, () => one);
    expect(failure(`[${items.join(',')},5]`, [64])).toContain('item 26');
  });

  test('no list, however long, is gathered without an end', () => {
    const scanner = new InventoryScanner(exactDecoder(operation));
    const add = () => {
      scanner.add(Buffer.alloc(100_000, '<'));
      scanner.fill();
    };
    expect(() => {
      for (let turn = 0; turn < 12; turn += 1) add();
    }).toThrow('is HTML');
  });
});

test('an item that is larger than any chunk is read in time', () => {
  const large = `{"note":"${'x'.repeat(3_000_000)}","petId":1,"quantity":2,"status":"sold"}`;
  expect(scan(inPieces(Buffer.from(`[${large},${large}]`), [1000]))).toHaveLength(2);
});

test('statuses without number do not gather', () => {
  const scanner = new InventoryScanner(exactDecoder(operation), 500);
  scanner.add(Buffer.from('['));
  let most = 0;
  for (let id = 0; id < 20_000; id += 1) {
    const status = id % 2 === 0 ? 'sold' : `adopted by number ${id}`;
    scanner.add(Buffer.from(`{"petId":${id},"quantity":1,"status":"${status}"},`));
    if (!scanner.fill()) continue;
    most = Math.max(most, scanner.batch.statuses.size);
    for (const { petId, status } of scanner.batch.items()) {
      expect(status).toBe(petId % 2n === 0n ? 'sold' : `adopted by number ${petId}`);
    }
  }
  expect(most).toBeLessThan(2000);
});
