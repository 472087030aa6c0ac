import { describe, expect, test } from 'vitest';
import { decodeItemOf, decodeJson } from '../../src/api/decode.ts';
import { readItems } from '../../src/api/read-items.ts';
import type { InventoryItem } from '../../src/inventory/items.ts';

const list = { name: 'GET /inventory' };
const patch = { name: 'PATCH /inventory/7', experimental: true };
const advice = '. The service calls this operation experimental, so it may have changed its response';

const items = async (text: string) => (await readItems([Buffer.from(text)], list).next()).value;
const item = (text: string) => decodeItemOf(Buffer.from(text), patch);

/** @param told the message after "The response to …" and before the advice */
async function expectNonsense(work: () => unknown, told: string, operation: 'list' | 'item'): Promise<void> {
  const answer = `The response to ${operation === 'list' ? 'GET /inventory' : 'PATCH /inventory/7'}`;
  const message = `${answer} ${told}${operation === 'list' ? '' : advice}`;
  await expect(async () => work()).rejects.toThrow(
    expect.objectContaining({ name: 'FailureError', kind: 'failure', message }),
  );
}

test.each<[string, InventoryItem]>([
  ['{"petId":7,"quantity":3,"status":"sold"}', { petId: 7n, quantity: 3, status: 'sold' }],
  ['{"status":"sold","quantity":-3,"petId":-7}', { petId: -7n, quantity: -3, status: 'sold' }],
  ['{"petId":9223372036854775807,"quantity":0,"status":""}', { petId: 2n ** 63n - 1n, quantity: 0, status: '' }],
  ['{"petId":-9223372036854775808,"quantity":0,"status":"x"}', { petId: -(2n ** 63n), quantity: 0, status: 'x' }],
  ['{"petId":7.0,"quantity":5e0,"status":"pending"}', { petId: 7n, quantity: 5, status: 'pending' }],
  ['{"petId":1e2,"quantity":1e2,"status":"pending"}', { petId: 100n, quantity: 100, status: 'pending' }],
  ['{"petId":1,"quantity":9007199254740991,"status":"s"}', { petId: 1n, quantity: 2 ** 53 - 1, status: 's' }],
  ['{"petId":1,"quantity":-9007199254740991,"status":"s"}', { petId: 1n, quantity: 1 - 2 ** 53, status: 's' }],
  // The longest numbers that are read without checking their size, and one digit more.
  ['{"petId":999999999999999999,"quantity":0,"status":"s"}', { petId: 10n ** 18n - 1n, quantity: 0, status: 's' }],
  ['{"petId":1000000000000000000,"quantity":0,"status":"s"}', { petId: 10n ** 18n, quantity: 0, status: 's' }],
  ['{"petId":7,"quantity":999999999999999,"status":"s"}', { petId: 7n, quantity: 10 ** 15 - 1, status: 's' }],
  ['{"petId":7,"quantity":3,"status":"on holiday"}', { petId: 7n, quantity: 3, status: 'on holiday' }],
  ['{"petId":7,"quantity":3,"status":"\\ud800"}', { petId: 7n, quantity: 3, status: '\ud800' }],
  // Unknown fields are ignored, however deep.
  [
    '{"petId":7,"quantity":3,"status":"s","tags":[{"a":[1.5]}],"x":{"petId":"x"}}',
    { petId: 7n, quantity: 3, status: 's' },
  ],
  // `toEqual` distinguishes -0 from 0.
  ['{"petId":-0,"quantity":-0,"status":"sold"}', { petId: 0n, quantity: 0, status: 'sold' }],
])('decodes the item %s', (text, expected) => {
  expect(item(text)).toEqual(expected);
});

type Row = readonly [text: string, field: string, fault: string];

describe('decoding items and lists', () => {
  test.each<Row>([
    ['{"quantity":3,"status":"sold"}', '"petId"', ' is missing'],
    ['{"petId":7,"status":"sold"}', '"quantity"', ' is missing'],
    ['{"petId":7,"quantity":3}', '"status"', ' is missing'],
    ...['null', '"7"', '7.5', '9223372036854775808', '-9223372036854775809', '1e999999999', '[7]'].map((petId): Row => {
      return [`{"petId":${petId},"quantity":3,"status":"sold"}`, '"petId"', ' is not an int64'];
    }),
    ...['"3"', 'null', '3.5', '9'.repeat(41)].map((quantity): Row => {
      return [`{"petId":7,"quantity":${quantity},"status":"sold"}`, '"quantity"', ' is not an integer'];
    }),
    ...['null', '1', '["sold"]'].map((status): Row => {
      return [`{"petId":7,"quantity":3,"status":${status}}`, '"status"', ' is not a string'];
    }),
    ['{"petID":7,"quantity":3,"status":"sold"}', '"petId"', ' is missing'],
  ])('names the operation and the field that is missing or mistyped: %s', async (text, field, fault) => {
    await expectNonsense(() => item(text), `is not valid: ${field} in the response${fault}`, 'item');
    const told = `is not valid: ${field} in item 2 of the response${fault}`;
    await expectNonsense(() => items(`[{"petId":1,"quantity":1,"status":"sold"},${text}]`), told, 'list');
  });

  test('takes a quantity beyond the safe integers of a list, but not as that of a written item', async () => {
    const text = '{"petId":7,"quantity":9007199254740992,"status":"sold"}';
    expect(await items(`[${text}]`)).toEqual([{ petId: 7n, quantity: 9007199254740992n, status: 'sold' }]);
    const told = 'is not valid: the stock of pet 7 is 9007199254740992, which is out of range';
    await expectNonsense(() => item(text), told, 'item');
  });

  test.each(['"petId":07,"quantity":3', '"petId":7,"quantity":03'])('rejects %s as invalid JSON', async (fields) => {
    await expectNonsense(() => item(`{${fields},"status":"sold"}`), 'is not valid JSON', 'item');
  });

  test.each(['[]', '5', 'null', '"sold"', 'true'])('rejects %s in place of an item', async (text) => {
    await expectNonsense(() => item(text), 'is not valid: it is not an object', 'item');
    await expectNonsense(() => items(`[${text}]`), 'is not valid: item 1 is not an object', 'list');
  });

  test.each(['{}', '5', 'null', '"sold"', '{"items":[]}'])('rejects %s in place of a list', async (text) => {
    await expectNonsense(() => items(text), 'is not an array of inventory items', 'list');
  });

  test('decodes an empty list', async () => {
    expect(await items('[]')).toBeUndefined();
  });
});

test.each([
  ['is empty', ''],
  ['is empty', ' \r\n'],
  ['is HTML, not JSON', '<!DOCTYPE html><title>Sign in</title>'],
  ['is HTML, not JSON', '\n  <html>'],
  ['is not valid JSON', '[{"petId":7,"quanti'],
  ['is not valid JSON', '{"petId":7,"petId":8}'],
  ['is not valid JSON', '['.repeat(100_000)],
  ['is not valid JSON', 'OK'],
])('reports that a response %s', async (fault, text) => {
  await expectNonsense(() => decodeJson(text, list), fault, 'list');
  await expectNonsense(() => decodeJson(text, patch), fault, 'item');
  expect(() => decodeJson(text, list)).toThrow(expect.objectContaining({ cause: expect.any(SyntaxError) }));
});
