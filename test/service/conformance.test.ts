import { describe, expect } from 'vitest';
import { openApiDocument } from '../../src/service/index.ts';
import { sqlite } from '../../src/shared/sqlite-engine.ts';
import fc, { propertyRuns } from '../support/properties.ts';
import { CASES, type Case } from './conformance-cases.ts';
import { breach, ofHttp } from './contract.ts';
import { type Answer, outcome, rate, start, type TestService, temporaryFile, test } from './support.ts';

const { DatabaseSync } = sqlite();

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

async function requireDocumented(service: TestService, file: string, asked: Case): Promise<void> {
  const { name, operation, ask, outcome: expected, headers } = asked;
  const before = stockIn(file);
  const answer = await ask(service);
  expectHeadersOfAll(answer);
  expect(answer.headers, name).toMatchObject(headers);
  expect('sunset' in answer.headers, name).toBe('sunset' in headers);
  expect(stockIn(file), name).toBe(before);
  if (operation === null) {
    expect([String(answer.status), answer.text], name).toEqual([expected.slice(0, 3), expect.any(String)]);
    return;
  }
  expect(outcome(answer), name).toBe(expected);
  expect(answer.headers['content-type'], name).toBe('application/json');
  expect(breach(...operation, answer), name).toBe('');
}

test('responds as documented to every case, without changing the stock', async () => {
  const file = temporaryFile();
  const service = await start({ file });
  for (const asked of CASES.filter(({ options }) => Object.keys(options ?? {}).length === 0))
    await requireDocumented(service, file, asked);
});

test.each(CASES.filter(({ options }) => Object.keys(options ?? {}).length > 0))(
  'responds as documented, without changing the stock, to: $name ($outcome)',
  async (asked) => {
    const file = temporaryFile();
    await requireDocumented(await start({ file, ...asked.options }), file, asked);
  },
);

const bodies: readonly (readonly [string, bigint])[] = [
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
];
test('sets only the pet of the path, whatever the body is like, and returns the item', async () => {
  const file = temporaryFile();
  const service = await start({ file });
  for (const [body, quantity] of bodies) {
    await service.patch('/inventory/9007199254740993', '{"quantity":4711}');
    const before = stockIn(file).split('\n');
    const answer = await service.patch('/inventory/9007199254740993?quantity=9', body);
    expect(answer.text).toMatch(new RegExp(`^\\{"petId":9007199254740993,"quantity":${quantity},"status":"\\w+"\\}$`));
    expectHeadersOfAll(answer);
    const changed = stockIn(file)
      .split('\n')
      .filter((line) => !before.includes(line));
    expect(changed).toEqual([expect.stringMatching(new RegExp(`^9007199254740993 ${quantity} `))]);
  }
});

test("answers 503 if the stock or the usage of the key can't be read or written", async ({ file }) => {
  const service = await start({ file });
  const database = new DatabaseSync(file);
  for (const table of ['pets', 'usage']) {
    database.exec(`DROP TABLE ${table}`);
    const answer = await service.patch('/inventory/1', '{"quantity":5}');
    expect(outcome(answer)).toBe('503 storage_unavailable');
    expectHeadersOfAll(answer);
    expect(breach('PATCH', '/inventory/1', answer)).toBe('');
  }
  database.close();
});

test('enforces inclusive quantity bounds if they are given', async () => {
  const service = await start({ quantityBounds: { min: 0n, max: 10n } });
  const set = async (quantity: number) => outcome(await service.patch('/inventory/1', `{"quantity":${quantity}}`));
  const refused = '400 invalid_quantity';
  expect([await set(-1), await set(0), await set(10), await set(11)]).toEqual([refused, '200', '200', refused]);
});

test('answers 413 to a body of more than 16 KiB, with or without a length', async ({ service }) => {
  const set = async (bytes: number, headers = {}) =>
    outcome(await service.patch('/inventory/1', '{"quantity":5}'.padEnd(bytes), { headers }));
  const chunked = { 'Transfer-Encoding': 'chunked' };
  expect([await set(16_384), await set(16_384, chunked)]).toEqual(['200', '200']);
  for (const bytes of [16_385, 3_000_000]) expect(await set(bytes, chunked)).toBe('413 payload_too_large');
  expect(await set(16_385)).toBe('413 payload_too_large');
});

test.each(['application/json; charset=utf-8', 'Application/JSON'])('accepts the Content-Type %s', async (type) => {
  const headers = { 'Content-Type': type };
  expect(outcome(await (await start()).patch('/inventory/%31', '{"quantity":5}', { headers }))).toBe('200');
});

test('answers HEAD like GET without a body, and counts it against the limit', async ({ service }) => {
  const list = await service.get('/inventory');
  const head = await service.call('HEAD', '/inventory');
  expect([head.status, head.text]).toEqual([200, '']);
  expect(head.headers['content-length']).toBe(list.headers['content-length']);
  expect(rate(head)).toMatch(/^1000\/998\//);
});

const segment = fc.oneof(
  fc.constantFrom('inventory', 'pets', 'store', 'orders', '', '.', '..', '%2F', '%00', '%zz', 'v1', '1', '-1'),
  fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(String),
  fc.string({ unit: fc.constantFrom(...'abc019._~!$&()*+,;=:@%-') }),
);
const path = fc.array(segment, { maxLength: 4 }).map((segments) => `/${segments.join('/')}`);
const target = fc.oneof(path, fc.constantFrom('/inventory', '/inventory/1', '/pets/1', '/store/orders'));
const body = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.json().map((text) => Buffer.from(text)),
  fc.jsonValue().map((value) => Buffer.from(`{"quantity":${JSON.stringify(value)}}`)),
);
const request = fc.record({
  method: fc.constantFrom('GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'DELETE', 'PROPFIND'),
  target,
  body,
  type: fc.constantFrom('application/json', 'application/json;charset=utf-8', 'text/plain', ';', ''),
});

test('answers any request with the common headers, and never with 500', async () => {
  const service = await start({ file: temporaryFile(), limits: { minute: 10n ** 9n, day: 10n ** 9n } });
  const property = fc.asyncProperty(request, async ({ method, target: asked, body: bytes, type }) => {
    const hasBody = method !== 'GET' && method !== 'HEAD';
    const headers = { 'Content-Type': type, ...(hasBody ? { 'Content-Length': String(bytes.length) } : {}) };
    const answer = await service.call(method, asked, { headers, ...(hasBody ? { body: bytes } : {}) });
    expect(rate(answer)).toMatch(/^1000000000\/\d+\/\d+$/);
    expect(answer.headers['x-request-id']).toBeDefined();
    expect([200, 204, 400, 404, 405, 413, 415, 501]).toContain(answer.status);
    const isError = answer.status >= 400 && method !== 'HEAD';
    if (isError)
      expect(answer.json).toEqual({ code: expect.any(String), message: expect.any(String), status: answer.status });
  });
  await fc.assert(property, propertyRuns(50));
  expect((await service.get('/inventory')).json).toHaveLength(24);
});

type Operation = { operationId: string; responses: object; parameters?: { example: unknown }[]; requestBody?: object };
type Schema = { examples: readonly unknown[] };
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<'InventoryItem' | 'InventoryUpdate' | 'Error', Schema>> };
}

const operationsOf = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  );

describe('the OpenAPI document', () => {
  const described = openApiDocument('http://127.0.0.1/v1') as unknown as Document;

  test('documents the expected statuses of each operation in OpenAPI, and tests every status', () => {
    const common = ['200', '401', '429', '503', 'default'];
    const more = {
      listInventory: [],
      updateInventory: ['400', '404', '413', '415'],
      getPet: ['400', '404'],
      listOrders: [],
    };
    const statuses = operationsOf(described).map(({ operationId, responses }) => [operationId, Object.keys(responses)]);
    expect(statuses).toEqual(Object.entries(more).map(([id, own]) => [id, [...common, ...own].sort()]));
    const shown = new Set(['default', ...CASES.map((one) => one.outcome.slice(0, 3))]);
    expect([...common, ...more.updateInventory].filter((status) => !shown.has(status))).toEqual([]);
  });

  const damaged = ['GET /inventory', 'a pet without a key', 'an update with a wrong key', 'a banned key', 'gzip'];
  test.each(CASES.filter(({ name }) => damaged.includes(name)))(
    'detects a response that lacks a header or a field, or has a wrong one: $name',
    async ({ operation, ask, options }) => {
      const answer = await ask(await start(options));
      const passes = (change: Partial<Answer>) => breach(...(operation ?? ['', '']), { ...answer, ...change }) === '';
      const names = Object.keys(answer.headers).filter((name) => !ofHttp.includes(name));
      const withHeader = (name: string, value?: string) => passes({ headers: { ...answer.headers, [name]: value } });
      expect(names.filter((name) => withHeader(name))).toEqual(names.filter((name) => name === 'accept-encoding'));
      expect(names.filter((name) => withHeader(name, '0') && withHeader(name, '?'))).toEqual([]);
      const [body = {}] = [answer.json].flat() as readonly object[];
      const withField = (name: string, value?: unknown) => {
        const changed = { ...body, [name]: value };
        return passes({ text: JSON.stringify(Array.isArray(answer.json) ? [changed] : changed) });
      };
      expect(Object.keys(body).filter((name) => withField(name) || withField(name, 1.5))).toEqual([]);
    },
  );

  test('documents examples in OpenAPI that fit the schemas and get the documented responses', async ({ service }) => {
    const { InventoryItem: item, InventoryUpdate: update, Error: error } = described.components.schemas;
    const list = await service.get('/inventory');
    expect(breach('GET', '/inventory', { ...list, text: JSON.stringify(item.examples) })).toBe('');
    const refused = await service.patch('/inventory/1', '{}');
    const text = JSON.stringify(error.examples[0]);
    expect(breach('PATCH', '/inventory/1', { ...refused, text })).toBe('');
    expect(refused.json).toEqual(error.examples[0]);
    for (const { path, method, parameters, requestBody } of operationsOf(described)) {
      const url = path.replace('{petId}', `${parameters?.[0]?.example}`);
      const body = JSON.stringify(update.examples[0]);
      const answer = await (requestBody === undefined ? service.call(method, url) : service.patch(url, body));
      expect(breach(method, url, answer)).toBe('');
      expect(outcome(answer)).toBe('200');
    }
    expect((await service.get('/inventory')).json).toContainEqual(item.examples[0]);
  });
});
