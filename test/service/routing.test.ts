import { describe, expect, test } from 'vitest';
import { sqlite } from '../../src/shared/sqlite-engine.ts';
import { outcome, rate, start, temporaryFile } from './support.ts';

const { DatabaseSync } = sqlite();

test.each([
  ['GET', '/'],
  ['GET', '/inventory/'],
  ['GET', '//inventory'],
  ['GET', '/Inventory'],
  ['GET', '/inventory/1/2'],
  ['GET', '/pets'],
  ['GET', '/pets/'],
  ['GET', '/health'],
  ['DELETE', '/nowhere'],
  ['GET', '/../v1/nowhere'],
  ['GET', '/inventory%2F1'],
])('%s %s is not found', async (method, path) => {
  const answer = await (await start()).call(method, path);
  expect(answer.json).toEqual({ code: 'not_found', message: expect.any(String), status: 404 });
});

test.each(['/%zz', '/inventory/%', '/inventory/%E0%A4%A'])('the malformed path %s is refused', async (path) => {
  expect(outcome(await (await start()).get(path))).toBe('400 malformed_path');
});

test('the absolute form of a request target is understood', async () => {
  const service = await start();
  const answer = await service.raw(
    `GET http://pets.example/v1/inventory HTTP/1.1\r\nHost: pets.example\r\nAuthorization: Bearer ${service.key}\r\nConnection: close\r\n\r\n`,
  );
  expect(answer).toMatch(/^HTTP\/1.1 200 OK/);
});

test('a query is ignored', async () => {
  expect(outcome(await (await start()).get('/inventory?status=sold'))).toBe('200');
});

describe('405 says what is allowed', () => {
  test.each([
    ['POST', '/inventory', 'GET, HEAD, OPTIONS'],
    ['PATCH', '/inventory', 'GET, HEAD, OPTIONS'],
    ['GET', '/inventory/1', 'PATCH, OPTIONS'],
    ['HEAD', '/inventory/1', 'PATCH, OPTIONS'],
    ['PUT', '/inventory/1', 'PATCH, OPTIONS'],
    ['DELETE', '/pets/1', 'GET, HEAD, OPTIONS'],
    ['POST', '/store/orders', 'GET, HEAD, OPTIONS'],
  ])('%s %s: %s', async (method, path, allow) => {
    const answer = await (await start()).call(method, path);
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe(allow);
    if (method !== 'HEAD') expect(outcome(answer)).toBe('405 method_not_allowed');
  });
});

test('OPTIONS answers 204 with Allow and no content', async () => {
  const answer = await (await start()).call('OPTIONS', '/inventory/1');
  expect([answer.status, answer.headers.allow, answer.text]).toEqual([204, 'PATCH, OPTIONS', '']);
});

test('HEAD has the status and headers of GET and no body, and is charged', async () => {
  const service = await start();
  const get = await service.get('/inventory');
  const head = await service.call('HEAD', '/inventory');
  expect([head.status, head.text]).toEqual([200, '']);
  expect(head.headers['content-length']).toBe(get.headers['content-length']);
  expect(rate(head)).toMatch(/^1000\/998\//);
});

test('HEAD of a list of several pages leaves no snapshot behind', async () => {
  const file = temporaryFile();
  const service = await start({ file, pets: 2_500 });
  for (let time = 0; time < 5; time++) expect((await service.call('HEAD', '/inventory')).status).toBe(200);
  const database = new DatabaseSync(file);
  expect(database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()).toMatchObject({ busy: 0 });
  database.close();
});

describe('the deprecated GET /pets/{petId}', () => {
  test.each([
    ['/pets/1', 'GET', undefined, 200],
    ['/pets/x', 'GET', undefined, 400],
    ['/pets/1', 'GET', null, 401],
    ['/pets/1', 'GET', 'psk_wrong', 401],
    ['/pets/424242', 'GET', undefined, 404],
    ['/pets/1', 'POST', undefined, 405],
    ['/pets/1', 'HEAD', undefined, 200],
  ])('%s by %s with the key %s: %i, with Deprecation and Sunset', async (path, method, key, status) => {
    const answer = await (await start()).call(method, path, key === undefined ? {} : { key });
    expect(answer.status).toBe(status);
    expect(answer.headers.deprecation).toBe('@1767225600');
    expect(answer.headers.sunset).toBe('Fri, 31 Dec 2027 23:59:59 GMT');
  });

  test('says so on a 429 and an injected 503 too, and no other operation does', async () => {
    const service = await start({ limits: { minute: 2, day: 9 }, faults: ['GET /pets/*:status=503'] });
    const answers = [await service.get('/pets/1'), await service.get('/inventory'), await service.get('/pets/1')];
    expect(answers.map(outcome)).toEqual(['503 injected_fault', '200', '429 rate_limited']);
    expect(answers.map(({ headers }) => headers.sunset !== undefined)).toEqual([true, false, true]);
  });
});
