import { describe, expect, test } from 'vitest';
import { outcome, start } from './support.ts';

describe('petId', () => {
  test.each([
    ['abc', '400 invalid_pet_id'],
    ['1.0', '400 invalid_pet_id'],
    ['+1', '400 invalid_pet_id'],
    ['01', '400 invalid_pet_id'],
    ['-0', '400 invalid_pet_id'],
    ['0x1', '400 invalid_pet_id'],
    ['1e3', '400 invalid_pet_id'],
    ['%20', '400 invalid_pet_id'],
    ['%D9%A1', '400 invalid_pet_id'],
    ['9223372036854775808', '400 invalid_pet_id'],
    ['-9223372036854775809', '400 invalid_pet_id'],
    ['99999999999999999999999', '400 invalid_pet_id'],
    ['-9223372036854775808', '404 pet_not_found'],
    ['9223372036854775806', '404 pet_not_found'],
    ['9007199254740994', '404 pet_not_found'],
    ['0', '404 pet_not_found'],
    ['-1', '404 pet_not_found'],
    ['1', '200'],
    ['%31', '200'],
    ['1?quantity=9', '200'],
    ['9223372036854775807', '200'],
  ])('%s: %s', async (petId, expected) => {
    const service = await start();
    expect(outcome(await service.patch(`/inventory/${petId}`, '{"quantity":5}'))).toBe(expected);
  });
});

describe('the body of a stock update', () => {
  test.each([
    ['{"quantity":5}', 5n],
    ['{"quantity":5.0}', 5n],
    ['{"quantity":0.5e1}', 5n],
    ['{"quantity":1E3}', 1000n],
    ['{"quantity":-0}', 0n],
    ['{"quantity":0e999999999}', 0n],
    ['{"quantity":-3}', -3n],
    ['{"quantity":9223372036854775807}', 9223372036854775807n],
    ['{"quantity":-9223372036854775808}', -9223372036854775808n],
    ['{"quantity":5,"status":"sold","petId":9}', 5n],
    [' {\n"quantity"\t: 5}\r\n', 5n],
    ['\uFEFF{"quantity":5}', 5n],
    ['{"note":"Привет 🐈","quantity":5}', 5n],
  ])('%s sets %d', async (body, quantity) => {
    const answer = await (await start()).patch('/inventory/1', body);
    expect(answer.text).toContain(`"quantity":${quantity},`);
  });

  test.each([
    ['', 'invalid_json'],
    ['{', 'invalid_json'],
    ['{"quantity":05}', 'invalid_json'],
    ['{"quantity":+5}', 'invalid_json'],
    ['{"quantity":.5}', 'invalid_json'],
    ['{"quantity":NaN}', 'invalid_json'],
    ["{'quantity':5}", 'invalid_json'],
    ['{"quantity":5}{}', 'invalid_json'],
    ['{"quantity":5,}', 'invalid_json'],
    ['{"quantity":5,"quantity":6}', 'invalid_json'],
    ['null', 'invalid_body'],
    ['[]', 'invalid_body'],
    ['[{"quantity":5}]', 'invalid_body'],
    ['5', 'invalid_body'],
    ['"quantity"', 'invalid_body'],
    ['{}', 'missing_quantity'],
    ['{"Quantity":5}', 'missing_quantity'],
    ['{"__proto__":{"quantity":5}}', 'missing_quantity'],
    ['{"quantity":null}', 'invalid_quantity'],
    ['{"quantity":"5"}', 'invalid_quantity'],
    ['{"quantity":true}', 'invalid_quantity'],
    ['{"quantity":[5]}', 'invalid_quantity'],
    ['{"quantity":{"isLosslessNumber":true,"value":"5"}}', 'invalid_quantity'],
    ['{"quantity":1.5}', 'invalid_quantity'],
    ['{"quantity":1e-1}', 'invalid_quantity'],
    ['{"quantity":5.00000000000000000001}', 'invalid_quantity'],
    ['{"quantity":9223372036854775808}', 'invalid_quantity'],
    ['{"quantity":-9223372036854775809}', 'invalid_quantity'],
    ['{"quantity":1e999999999}', 'invalid_quantity'],
  ])('%s is refused: 400 %s, and nothing is written', async (body, code) => {
    const service = await start();
    const before = await service.get('/inventory');
    const answer = await service.patch('/inventory/1', body);
    expect(outcome(answer)).toBe(`400 ${code}`);
    expect(answer.json).toEqual({ code, message: expect.any(String), status: 400 });
    expect((await service.get('/inventory')).text).toBe(before.text);
  });

  test.each([
    ['16,000 opening brackets', '['.repeat(16_000), '400 invalid_json'],
    ['8,000 nested arrays', '['.repeat(8_000) + ']'.repeat(8_000), '400'],
    ['a number of 16,000 digits', `{"quantity":${'9'.repeat(16_000)}}`, '400 invalid_quantity'],
    ['a fraction of 16,000 zeros', `{"quantity":5.${'0'.repeat(16_000)}}`, '200'],
  ])('of %s', async (_name, body, expected) => {
    expect(outcome(await (await start()).patch('/inventory/1', body))).toContain(expected);
  });

  test('that is not UTF-8 is refused', async () => {
    const latin1 = Buffer.from('{"quantity":5,"note":"caf\xe9"}', 'latin1');
    expect(outcome(await (await start()).patch('/inventory/1', latin1))).toBe('400 invalid_json');
  });

  test('quantity bounds: none by default, inclusive when given', async () => {
    const service = await start({ quantityBounds: { min: 0n, max: 10n } });
    const set = async (quantity: number) => outcome(await service.patch('/inventory/1', `{"quantity":${quantity}}`));
    expect([await set(-1), await set(0), await set(10), await set(11)]).toEqual([
      '400 invalid_quantity',
      '200',
      '200',
      '400 invalid_quantity',
    ]);
  });

  test('413 beyond 16 KiB, said before it is read or found out while reading', async () => {
    const service = await start();
    const padded = (bytes: number) => '{"quantity":5}'.padEnd(bytes);
    const chunked = { headers: { 'Transfer-Encoding': 'chunked' } };
    expect(outcome(await service.patch('/inventory/1', padded(16_384)))).toBe('200');
    expect(outcome(await service.patch('/inventory/1', padded(16_385)))).toBe('413 payload_too_large');
    expect(outcome(await service.patch('/inventory/1', padded(16_384), chunked))).toBe('200');
    expect(outcome(await service.patch('/inventory/1', padded(16_385), chunked))).toBe('413 payload_too_large');
    expect(outcome(await service.patch('/inventory/1', padded(3_000_000), chunked))).toBe('413 payload_too_large');
  });

  test.each([
    ['application/json', '200'],
    ['application/json; charset=utf-8', '200'],
    ['Application/JSON', '200'],
    ['text/plain', '415 unsupported_media_type'],
    ['application/merge-patch+json', '415 unsupported_media_type'],
    ['application/jsonp', '415 unsupported_media_type'],
  ])('of type %s: %s', async (type, expected) => {
    const answer = await (await start()).patch('/inventory/1', '{"quantity":5}', { headers: { 'Content-Type': type } });
    expect(outcome(answer)).toBe(expected);
  });

  test('415 without a Content-Type, and for a compressed body', async () => {
    const service = await start();
    expect(outcome(await service.call('PATCH', '/inventory/1', { body: '{"quantity":5}' }))).toMatch(/^415/);
    const gzip = { headers: { 'Content-Encoding': 'gzip' } };
    expect(outcome(await service.patch('/inventory/1', '{"quantity":5}', gzip))).toMatch(/^415/);
  });
});
