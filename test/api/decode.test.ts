import { describe, expect, test } from 'vitest';
import { decodeItemOf, decodeItems, decodeJson } from '../../src/api/decode.ts';
import type { InventoryItem } from '../../src/inventory/items.ts';
import { FailureError } from '../../src/shared/errors.ts';

const list = { name: 'GET /inventory' };
const patch = { name: 'PATCH /inventory/7', experimental: true };
const advice = '. This operation is marked experimental: the service may have changed its shape';

const items = (text: string) => decodeItems(decodeJson(text, list), list);
const item = (text: string) => decodeItemOf(Buffer.from(text), patch);
const failure = (work: () => unknown): FailureError => {
  try {
    work();
  } catch (error) {
    if (error instanceof FailureError) return error;
    throw error;
  }
  throw new Error('it did not fail');
};

describe('an item', () => {
  test.each<[string, InventoryItem]>([
    ['{"petId":7,"quantity":3,"status":"sold"}', { petId: 7n, quantity: 3, status: 'sold' }],
    ['{"status":"sold","quantity":-3,"petId":-7}', { petId: -7n, quantity: -3, status: 'sold' }],
    ['{"petId":9223372036854775807,"quantity":0,"status":""}', { petId: 2n ** 63n - 1n, quantity: 0, status: '' }],
    ['{"petId":-9223372036854775808,"quantity":0,"status":"x"}', { petId: -(2n ** 63n), quantity: 0, status: 'x' }],
    ['{"petId":7.0,"quantity":5e0,"status":"pending"}', { petId: 7n, quantity: 5, status: 'pending' }],
    ['{"petId":1e2,"quantity":1e2,"status":"pending"}', { petId: 100n, quantity: 100, status: 'pending' }],
    [
      '{"petId":1,"quantity":9007199254740991,"status":"s"}',
      { petId: 1n, quantity: Number.MAX_SAFE_INTEGER, status: 's' },
    ],
    [
      '{"petId":1,"quantity":-9007199254740991,"status":"s"}',
      { petId: 1n, quantity: Number.MIN_SAFE_INTEGER, status: 's' },
    ],
    // As long as numbers may be that are read without a look at their size, and one digit longer.
    ...['999999999999999999', '1000000000000000000'].map((petId): [string, InventoryItem] => [
      `{"petId":${petId},"quantity":0,"status":"sold"}`,
      { petId: BigInt(petId), quantity: 0, status: 'sold' },
    ]),
    [
      '{"petId":7,"quantity":999999999999999,"status":"sold"}',
      { petId: 7n, quantity: 999_999_999_999_999, status: 'sold' },
    ],
    // An unknown status is kept as it came.
    ['{"petId":7,"quantity":3,"status":"on holiday"}', { petId: 7n, quantity: 3, status: 'on holiday' }],
    ['{"petId":7,"quantity":3,"status":"\\ud800"}', { petId: 7n, quantity: 3, status: '\ud800' }],
    // Unknown fields are ignored, however deep.
    [
      '{"petId":7,"quantity":3,"status":"sold","name":"Tom","tags":[{"a":[1.5,null]}],"owner":{"petId":"x"}}',
      { petId: 7n, quantity: 3, status: 'sold' },
    ],
  ])('%s', (text, expected) => {
    expect(item(text)).toEqual(expected);
  });

  test('-0 is 0', () => {
    expect(Object.is(item('{"petId":-0,"quantity":-0,"status":"sold"}').quantity, 0)).toBe(true);
  });
});

describe('a field that is missing or mistyped is named, with the operation', () => {
  test.each([
    ['{"quantity":3,"status":"sold"}', '"petId" in the answer is missing'],
    ['{"petId":7,"status":"sold"}', '"quantity" in the answer is missing'],
    ['{"petId":7,"quantity":3}', '"status" in the answer is missing'],
    ['{"petId":null,"quantity":3,"status":"sold"}', '"petId" in the answer is not an int64'],
    ['{"petId":"7","quantity":3,"status":"sold"}', '"petId" in the answer is not an int64'],
    ['{"petId":7.5,"quantity":3,"status":"sold"}', '"petId" in the answer is not an int64'],
    ['{"petId":9223372036854775808,"quantity":3,"status":"sold"}', '"petId" in the answer is not an int64'],
    ['{"petId":-9223372036854775809,"quantity":3,"status":"sold"}', '"petId" in the answer is not an int64'],
    ['{"petId":1e999999999,"quantity":3,"status":"sold"}', '"petId" in the answer is not an int64'],
    ['{"petId":[7],"quantity":3,"status":"sold"}', '"petId" in the answer is not an int64'],
    ['{"petId":7,"quantity":"3","status":"sold"}', '"quantity" in the answer is not an integer'],
    [
      '{"petId":7,"quantity":3.5,"status":"sold"}',
      '"quantity" in the answer is 3.5 for pet 7, which is not an integer',
    ],
    [
      '{"petId":7,"quantity":9007199254740992,"status":"sold"}',
      '"quantity" in the answer is 9007199254740992 for pet 7, which is out of range',
    ],
    ['{"petId":7,"quantity":null,"status":"sold"}', '"quantity" in the answer is not an integer'],
    ['{"petId":7,"quantity":3,"status":null}', '"status" in the answer is not a string'],
    ['{"petId":7,"quantity":3,"status":1}', '"status" in the answer is not a string'],
    ['{"petId":7,"quantity":3,"status":["sold"]}', '"status" in the answer is not a string'],
    ['{"petID":7,"quantity":3,"status":"sold"}', '"petId" in the answer is missing'],
  ])('%s', (text, fault) => {
    expect(failure(() => item(text)).message).toBe(
      `The answer to PATCH /inventory/7 makes no sense: ${fault}${advice}`,
    );
    expect(failure(() => items(`[{"petId":1,"quantity":1,"status":"sold"},${text}]`)).message).toBe(
      `The answer to GET /inventory makes no sense: ${fault.replace('the answer', 'item 2 of the answer')}`,
    );
  });

  test.each(['"petId":07,"quantity":3', '"petId":7,"quantity":03'])('%s is not JSON', (fields) => {
    const text = `{${fields},"status":"sold"}`;
    expect(failure(() => item(text)).message).toBe(
      `The answer to PATCH /inventory/7 is not valid JSON, where JSON was expected${advice}`,
    );
  });

  test.each(['[]', '5', 'null', '"sold"', 'true'])('%s is no item', (text) => {
    expect(failure(() => item(text)).message).toBe(
      `The answer to PATCH /inventory/7 has no object for the inventory item${advice}`,
    );
    expect(failure(() => items(`[${text}]`)).message).toBe(
      'The answer to GET /inventory has no object for item 1 of the inventory item',
    );
  });

  test.each(['{}', '5', 'null', '"sold"', '{"items":[]}'])('%s is no list', (text) => {
    expect(failure(() => items(text)).message).toBe('The answer to GET /inventory is not an array of inventory items');
  });

  test('an empty list is one', () => {
    expect(items('[]')).toEqual([]);
  });
});

test.each([
  ['', 'is empty'],
  [' \r\n', 'is empty'],
  ['<!DOCTYPE html><title>Sign in</title>', 'is HTML'],
  ['\n  <html>', 'is HTML'],
  ['[{"petId":7,"quanti', 'is not valid JSON'],
  ['{"petId":7,"petId":8}', 'is not valid JSON'],
  ['['.repeat(100_000), 'is not valid JSON'],
  ['OK', 'is not valid JSON'],
])('text that is no JSON: %j', (text, fault) => {
  const error = failure(() => decodeJson(text, list));
  expect(error.message).toBe(`The answer to GET /inventory ${fault}, where JSON was expected`);
  expect(error.kind).toBe('failure');
  expect(error.cause).toBeInstanceOf(SyntaxError);
  expect(failure(() => decodeJson(text, patch)).message).toBe(
    `The answer to PATCH /inventory/7 ${fault}, where JSON was expected${advice}`,
  );
});
