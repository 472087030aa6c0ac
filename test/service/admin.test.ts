import { request } from 'node:http';
import { expect, test } from 'vitest';
import { NOON, outcome, outcomes, rate, start } from './support.ts';

test('lists requests in GET /journal in order, without queries or keys', async () => {
  const service = await start({ adminPort: 0 });
  await service.get('/inventory?api_key=secret');
  await service.get(`/pets/${service.key}`);
  service.clock.advance(5);
  await service.patch('/inventory/1', '{"quantity":1.5}');
  const expected = [
    { time: NOON, method: 'GET', path: '/v1/inventory', body: null, status: 200 },
    { time: NOON, method: 'GET', path: '/v1/pets/{petId}', body: null, status: 400 },
    { time: NOON + 5, method: 'PATCH', path: '/v1/inventory/1', body: '{"quantity":1.5}', status: 400 },
  ];
  expect((await service.admin('GET', '/journal')).json).toEqual(expected);
  expect(service.journal()).toEqual(expected);
});

test('adds, lists and removes faults through the administration', async () => {
  const service = await start({ adminPort: 0, faults: ['GET /pets/*:reset'] });
  const added = await service.admin('POST', '/faults', { faults: ['GET /inventory:status=503'] });
  expect(added.json).toEqual({ faults: ['GET /pets/*:reset', 'GET /inventory:status=503'] });
  expect((await service.admin('GET', '/faults')).json).toEqual(added.json);
  expect(await outcomes(service, 1)).toEqual(['503 injected_fault']);
  expect((await service.admin('DELETE', '/faults')).json).toEqual({ faults: [] });
  expect(await outcomes(service, 1)).toEqual(['200']);
});

test('moves the clock, rate windows and Date header ahead, but not beyond the year 9999', async () => {
  const service = await start({ adminPort: 0, limits: { minute: 1, day: 9 } });
  expect(await outcomes(service, 2)).toEqual(['200', '429 rate_limited']);
  const moved = await service.admin('POST', '/clock', { advanceSeconds: 60 });
  expect(moved.json).toEqual({ now: '2026-03-10T12:01:00.000Z' });
  const answer = await service.get('/inventory');
  expect([outcome(answer), answer.headers.date]).toEqual(['200', 'Tue, 10 Mar 2026 12:01:00 GMT']);
  expect(rate(answer)).toBe(`1/0/${(NOON + 120_000) / 1000}`);
  service.clock.set(Date.UTC(9999, 11, 30));
  expect((await service.admin('POST', '/clock', { advanceSeconds: 172_800 })).status).toBe(400);
  expect((await service.get('/inventory')).headers.date).toBe('Thu, 30 Dec 9999 00:01:00 GMT');
});

test.for([
  ['50,001 names', `{${Array.from({ length: 50_001 }, (_, index) => `"${index}":0`)}}`],
  ['100,000 levels of lists', '['.repeat(100_000)],
])('refuses an administration body of %s', async ([, body]) => {
  const service = await start({ adminPort: 0 });
  expect((await service.admin('POST', '/clock', body)).status).toBe(400);
});

test.each([
  ['POST', '/faults', { faults: ['*:nonsense'] }, 400],
  ['POST', '/faults', ['*:reset'], 400],
  ['POST', '/clock', { advanceSeconds: -1 }, 400],
  ['POST', '/clock', { advanceSeconds: '60' }, 400],
  ['POST', '/clock', undefined, 400],
  ['POST', '/reset', { pet: 5 }, 400],
  ['POST', '/reset', { pets: -1 }, 400],
  ['POST', '/reset', [], 400],
  ['PUT', '/inventory/1', { quantity: 5, state: 'sold' }, 400],
  ['PUT', '/keys/000000000000/usage', { minutes: 5 }, 400],
  ['GET', '/v1/inventory', undefined, 404],
  ['GET', '/keys/000000000000/usage', undefined, 404],
  ['GET', '/healthz/more', undefined, 404],
  ['PUT', '/healthz', undefined, 404],
])('rejects the administration request %s %s (%j) with %i and a message', async (method, path, body, status) => {
  const service = await start({ adminPort: 0 });
  const answer = await service.admin(method, path, body);
  expect([answer.status, answer.json]).toEqual([status, { message: expect.any(String) }]);
});

test('reports the result of each administrative change of the stock', async () => {
  const service = await start({ adminPort: 0 });
  const change = async (method: string, path: string, body?: object) => {
    const { status, json } = await service.admin(method, path, body);
    return [status, json];
  };
  const pet = { petId: 900_001, quantity: 5, status: 'sold' };
  const put = { quantity: 5, status: 'sold' };
  expect(await change('PUT', '/inventory/900001', put)).toEqual([201, pet]);
  expect(await change('PUT', '/inventory/900001', put)).toEqual([200, pet]);
  expect(await change('DELETE', '/inventory/900001')).toEqual([200, { removed: true }]);
  expect(await change('DELETE', '/inventory/900001')).toEqual([404, { message: 'There is no pet 900001.' }]);
  expect(await change('POST', '/reset', {})).toEqual([200, { reset: true }]);
});

test.each([
  ['127.0.0.1', 200],
  ['127.0.0.1:4011', 200],
  ['localhost:4011', 200],
  ['[::1]:4011', 200],
  ['192.168.1.7', 200],
  ['evil.example', 403],
  ['localhost.evil.example:80', 403],
  ['127.0.0.1.evil.example', 403],
])('answers an administration request for the host %s with %i', async (Host, status) => {
  const service = await start({ adminPort: 0 });
  expect(await service.admin('GET', '/health', undefined, { headers: { Host } })).toMatchObject({ status });
});

test('serves the administration on loopback unless another address is given', async () => {
  const service = await start({ host: '0.0.0.0', adminPort: 0 });
  expect([service.url, service.adminUrl].map((url) => new URL(url ?? '').hostname)).toEqual(['0.0.0.0', '127.0.0.1']);
  const elsewhere = await start({ adminHost: '0.0.0.0', adminPort: 0, testControls: false });
  expect(elsewhere.adminUrl).toMatch(/^http:\/\/0\.0\.0\.0:/);
  for (const [path, key, status] of [
    ['/readyz', null, 200],
    ['/metrics', null, 401],
    ['/metrics', undefined, 200],
  ] as const) {
    const options = { ...(key === null && { key }), headers: { Host: 'petstock' } };
    const answer = await elsewhere.admin('GET', path, undefined, options);
    expect(answer.status).toBe(status);
    if (status === 401) expect(answer.text).toMatch('The administration token is missing or wrong');
  }
});

test.each(['/health', '/journal', '/faults', '/openapi.json', '/nowhere'])(
  'answers GET %s of the administration with 401 if the token is missing or wrong',
  async (path) => {
    const service = await start({ adminPort: 0 });
    const others = ['Bearer adm_wrong', `Bearer ${service.key}`, `Basic ${service.adminToken}`];
    for (const headers of [{}, ...others.map((Authorization) => ({ Authorization }))]) {
      const answer = await service.admin('GET', path, undefined, { key: null, headers });
      expect(answer).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer' } });
    }
  },
);

test('creates an administration token for each service, or uses the given one', async () => {
  const [one, other] = [await start({ adminPort: 0 }), await start({ adminPort: 0 })];
  expect(one.adminToken).toMatch(/^adm_\w{30}$/);
  expect(other.adminToken).not.toBe(one.adminToken);
  const own = await start({ adminPort: 0, adminToken: 'a token of mine' });
  expect(own.adminToken).toBe('a token of mine');
  expect((await own.admin('GET', '/health')).status).toBe(200);
  expect((await start()).adminToken).toBeNull();
});

test('answers an administration body over 1 MiB with 413, with or without a length', async () => {
  const service = await start({ adminPort: 0 });
  const body = { faults: ['*:reset'], filler: 'a'.repeat(1024 * 1024) };
  for (const headers of [{}, { 'Transfer-Encoding': 'chunked' }]) {
    const answer = await service.admin('POST', '/faults', body, { headers });
    expect([answer.status, answer.json]).toEqual([413, { message: expect.any(String) }]);
  }
  expect((await service.admin('GET', '/faults')).json).toEqual({ faults: [] });
});

test.each(['Authorization', 'Host'])('answers 400 to an administration request with two %s headers', async (name) => {
  const service = await start({ adminPort: 0 });
  const given = [`Bearer ${service.adminToken}`, `Bearer ${service.adminToken}`];
  const values = name === 'Host' ? ['localhost', 'localhost'] : given;
  const headers = [...(name === 'Host' ? ['Authorization', given[0] ?? ''] : ['Host', 'localhost'])];
  const asked = request(`${service.adminUrl}/health`, {
    headers: [...headers, ...values.flatMap((value) => [name, value])],
  });
  const status = await new Promise((resolve, reject) => {
    asked
      .on('response', (answer) => resolve(answer.resume().statusCode))
      .on('error', reject)
      .end();
  });
  expect(status).toBe(400);
});

test('refuses a deeply nested administration body with 400', async () => {
  const service = await start({ adminPort: 0 });
  const deep = `{"faults":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  expect((await service.admin('POST', '/faults', deep)).status).toBe(400);
});
