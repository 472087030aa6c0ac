import { describe, expect, test } from 'vitest';
import { sqlite } from '../../src/shared/sqlite-engine.ts';
import { CASES } from './conformance-cases.ts';
import { useContract } from './contract.ts';
import { type Answer, outcome, rate, start, temporaryFile } from './support.ts';

const { DatabaseSync } = sqlite();

const contract = useContract();

/** The stock as it is on disk. */
function stockIn(file: string): string {
  const database = new DatabaseSync(file, { readBigInts: true });
  const rows: { id: bigint; quantity: bigint; status: string }[] = database.prepare('SELECT * FROM pets').all();
  database.close();
  return rows.map(({ id, quantity, status }) => `${id} ${quantity} ${status}`).join('\n');
}

function expectHeadersOfAll(answer: Answer): void {
  expect(rate(answer)).toMatch(/^\d+\/\d+\/\d{10}$/);
  expect(answer.headers['x-request-id']).toMatch(/^[\da-f-]{36}$/);
  expect(answer.headers['cache-control']).toBe('no-store');
  expect(answer.headers.date).toMatch(/^Tue, 10 Mar 2026 12:00:0\d GMT$/);
}

describe('each has its status, its headers, an Error body where it is an error, and writes nothing:', () => {
  test.each(CASES)('$name: $outcome', async ({ operation, ask, outcome: expected, headers, options }) => {
    const file = temporaryFile();
    const service = await start({ file, ...options });
    const before = stockIn(file);
    const answer = await ask(service);
    expectHeadersOfAll(answer);
    expect(answer.headers).toMatchObject(headers);
    expect(stockIn(file)).toBe(before);
    if (operation === null) {
      expect([String(answer.status), answer.text]).toEqual([expected.slice(0, 3), expect.any(String)]);
      return;
    }
    expect(outcome(answer)).toBe(expected);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(await contract.breach(...operation, answer)).toBe('');
  });
});

test.each([
  ['{"quantity":5}', 5n],
  ['{"quantity":5.0}', 5n],
  ['{"quantity":0.5e1}', 5n],
  [`{"quantity":5.${'0'.repeat(16_000)}}`, 5n],
  ['{"quantity":1E3}', 1_000n],
  ['{"quantity":-0}', 0n],
  ['{"quantity":0e999999999}', 0n],
  ['{"quantity":-3}', -3n],
  ['{"quantity":9007199254740993}', 9_007_199_254_740_993n],
  ['{"quantity":9223372036854775807}', 2n ** 63n - 1n],
  ['{"quantity":-9223372036854775808}', -(2n ** 63n)],
  ['{"quantity":5,"status":"sold","petId":9}', 5n],
  [' {\n"quantity"\t: 5}\r\n', 5n],
  ['\uFEFF{"quantity":5}', 5n],
  ['{"note":"Привет 🐈","quantity":5}', 5n],
])('PATCH with %.60s writes %d, of one pet, and is answered with it', async (body, quantity) => {
  const file = temporaryFile();
  const service = await start({ file });
  await service.patch('/inventory/9007199254740993', '{"quantity":4711}');
  const before = stockIn(file).split('\n');
  const answer = await service.patch('/inventory/9007199254740993?quantity=9', body);
  expect(answer.text).toMatch(new RegExp(`^\\{"petId":9007199254740993,"quantity":${quantity},"status":"\\w+"\\}$`));
  expectHeadersOfAll(answer);
  const changed = stockIn(file)
    .split('\n')
    .filter((line) => !before.includes(line));
  expect(changed).toEqual([expect.stringMatching(new RegExp(`^9007199254740993 ${quantity} `))]);
});

test('503 when the stock, or the keys, cannot be read or written', async () => {
  const file = temporaryFile();
  const service = await start({ file });
  const database = new DatabaseSync(file);
  for (const [table, shown] of [
    ['pets', /^1000\/999\//],
    ['keys', /^600\/600\//],
  ] as const) {
    database.exec(`DROP TABLE ${table}`);
    const answer = await service.patch('/inventory/1', '{"quantity":5}');
    expect(outcome(answer)).toBe('503 storage_unavailable');
    expectHeadersOfAll(answer);
    expect(rate(answer)).toMatch(shown);
    expect(await contract.breach('PATCH', '/inventory/1', answer)).toBe('');
  }
  database.close();
});

test('quantity bounds: none by default, inclusive when given', async () => {
  const service = await start({ quantityBounds: { min: 0n, max: 10n } });
  const set = async (quantity: number) => outcome(await service.patch('/inventory/1', `{"quantity":${quantity}}`));
  const refused = '400 invalid_quantity';
  expect([await set(-1), await set(0), await set(10), await set(11)]).toEqual([refused, '200', '200', refused]);
});

test('413 beyond 16 KiB, said before it is read or found out while reading', async () => {
  const service = await start();
  for (const headers of [{}, { 'Transfer-Encoding': 'chunked' }]) {
    const set = async (bytes: number) => {
      return outcome(await service.patch('/inventory/1', '{"quantity":5}'.padEnd(bytes), { headers }));
    };
    expect([await set(16_384), await set(16_385)]).toEqual(['200', '413 payload_too_large']);
    if ('Transfer-Encoding' in headers) expect(await set(3_000_000)).toBe('413 payload_too_large');
  }
});

test.each(['application/json; charset=utf-8', 'Application/JSON'])('the type %s is JSON', async (type) => {
  const headers = { 'Content-Type': type };
  expect(outcome(await (await start()).patch('/inventory/%31', '{"quantity":5}', { headers }))).toBe('200');
});
