import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect } from 'vitest';
import type { LogEntry } from '../../src/service/http/log.ts';
import { temporaryPostgres } from '../support/postgres.ts';
import { outcome, outcomes, start, type TestService, test } from './support.ts';

const CERTIFICATES = fileURLToPath(new URL('../support/certificates/', import.meta.url));

/** Asks the administration port; without a token unless it is to bring it. */
async function admin(
  service: TestService,
  path: string,
  { token = false, method = 'GET', body = undefined as unknown } = {},
) {
  const response = await fetch(`${service.adminUrl}${path}`, {
    method,
    headers: {
      ...(token ? { Authorization: `Bearer ${service.adminToken}` } : {}),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text(), type: response.headers.get('content-type') };
}

describe('probes need no token', () => {
  test('healthy and ready; not ready once it drains, while requests are still answered', async () => {
    const service = await start({ adminPort: 0, testControls: false });
    expect((await admin(service, '/healthz')).text).toBe('{"status":"ok"}');
    expect((await admin(service, '/readyz')).text).toBe('{"status":"ok"}');
    service.drain();
    expect(await admin(service, '/readyz')).toMatchObject({ status: 503, text: '{"status":"draining"}' });
    expect((await admin(service, '/healthz')).status).toBe(200);
    const answer = await service.get('/inventory');
    expect([answer.status, answer.headers.connection]).toEqual([200, 'close']);
  });

  test('not ready without its file', async ({ file }) => {
    const service = await start({ file, adminPort: 0, testControls: false });
    rmSync(file);
    expect((await admin(service, '/readyz')).status).toBe(503);
  });

  test('not ready without its database, or while that is frozen', { timeout: 30_000 }, async () => {
    const server = await temporaryPostgres();
    const service = await start({ database: server.url, adminPort: 0, testControls: false });
    expect((await admin(service, '/readyz')).status).toBe(200);
    await server.kill();
    expect((await admin(service, '/readyz')).status).toBe(503);
    await server.restart();
    expect((await admin(service, '/readyz')).status).toBe(200);
  });
});

describe('metrics', () => {
  const ask = async (service: TestService, token: string | null) => {
    const headers = token === null ? {} : { Authorization: `Bearer ${token}` };
    return (await fetch(`${service.adminUrl}/metrics`, { headers })).status;
  };

  test('take one that opens nothing else', async () => {
    const service = await start({ adminPort: 0, metricsToken: 'a-token-for-metrics' });
    expect([await ask(service, null), await ask(service, 'a-token-for-metrics')]).toEqual([401, 200]);
    const headers = { Authorization: 'Bearer a-token-for-metrics', 'Content-Type': 'application/json' };
    const reset = await fetch(`${service.adminUrl}/reset`, { method: 'POST', headers, body: '{}' });
    expect(reset.status).toBe(401);
  });

  test('have each key, the store and the build, and what the parser refused', async () => {
    const service = await start({ adminPort: 0 });
    await service.get('/pets/1');
    await service.raw('hello\r\n\r\n');
    const { text } = await admin(service, '/metrics');
    for (const line of [
      'petstock_http_requests_total{method="other",route="other",status="400"} 1',
      'petstock_store_duration_seconds_count{operation="admit"} 1',
      'petstock_store_duration_seconds_count{operation="find"} 1',
      'petstock_store_connections{state="busy"} 0',
    ]) {
      expect(text.split('\n')).toContain(line);
    }
    expect(text).toMatch(/petstock_build_info\{version="\d/);
    // `promtool check metrics` takes a gauge of that name for a mistake.
    expect(text).not.toMatch(/^# TYPE \w+_total gauge/m);
  });
});

test('metrics count requests, refusals, bans and operations, with few labels whatever is asked', async () => {
  const service = await start({ adminPort: 0, limits: { minute: 3, day: 9 }, ban: { strikes: 0, seconds: 300 } });
  await service.patch('/inventory/1', '{"quantity":5}');
  await service.get('/pets/1');
  await service.get('/nowhere/12345');
  expect(await outcomes(service, 1)).toEqual(['429 rate_limited']);
  service.clock.advance(1_001);
  expect(await outcomes(service, 2)).toEqual(['429 key_banned', '429 key_banned']);
  await service.get('/inventory', { key: null });
  const { text, type } = await admin(service, '/metrics', { token: true });
  expect(type).toMatch(/^text\/plain; version=0.0.4/);
  for (const line of [
    'petstock_http_requests_total{method="PATCH",route="/inventory/{petId}",status="200"} 1',
    'petstock_http_requests_total{method="GET",route="other",status="404"} 1',
    'petstock_http_requests_total{method="GET",route="/inventory",status="429"} 3',
    'petstock_http_requests_total{method="GET",route="/inventory",status="401"} 1',
    'petstock_http_request_duration_seconds_count{method="GET",route="/inventory"} 4',
    'petstock_refusals_total{code="rate_limited"} 1',
    'petstock_refusals_total{code="key_banned"} 2',
    'petstock_bans_total 1',
    'petstock_stock_operations_total{operation="set"} 1',
    'petstock_store_up 1',
  ]) {
    expect(text.split('\n')).toContain(line);
  }
  expect(text).toMatch(/petstock_key_used\{key="\w{12}",window="minute"\} 3/);
  expect(text).toMatch(/petstock_key_banned\{key="\w{12}"\} 1/);
  expect(text).toMatch(/process_cpu_seconds_total /);
  expect(text).not.toMatch(/12345|psk_/);
});

describe('administration of stock, usage and bans', () => {
  test('a pet is put in, changed and taken out, with exact digits', async () => {
    const service = await start({ adminPort: 0 });
    const path = '/inventory/9007199254740995';
    const put = (body: string) => admin(service, path, { token: true, method: 'PUT', body });
    expect(await put('{"quantity":9007199254740997,"status":"sold"}')).toMatchObject({
      status: 201,
      text: '{"petId":9007199254740995,"quantity":9007199254740997,"status":"sold"}',
    });
    expect((await put('{"status":"pending"}')).text).toContain('"quantity":9007199254740997,"status":"pending"');
    expect((await put('{"quantity":1.5}')).status).toBe(400);
    expect((await service.get('/inventory')).text).toContain('{"petId":9007199254740995,');
    const remove = () => admin(service, path, { token: true, method: 'DELETE' });
    expect([(await remove()).status, (await remove()).status]).toEqual([200, 404]);
  });

  test('usage and bans are set and lifted; reset brings the first stock back', async () => {
    const service = await start({ adminPort: 0, limits: { minute: 5, day: 9 } });
    const first = (await service.get('/inventory')).text;
    const [key] = JSON.parse((await admin(service, '/keys', { token: true })).text);
    expect(key).toMatchObject({ minute: { limit: 5, used: 1 }, day: { limit: 9, used: 1 }, bannedUntil: null });
    const change = (method: string, what: string, body?: unknown) =>
      admin(service, `/keys/${key.id}/${what}`, { token: true, method, body });
    expect((await change('PUT', 'usage', { minute: 5 })).status).toBe(200);
    expect(await outcomes(service, 1)).toEqual(['429 rate_limited']);
    await change('PUT', 'usage', { minute: 0, day: 0 });
    await change('PUT', 'ban', { seconds: 60 });
    const banned = await service.get('/inventory');
    expect([outcome(banned), banned.headers['retry-after']]).toEqual(['429 key_banned', '60']);
    await change('DELETE', 'ban');
    await service.patch('/inventory/1', '{"quantity":4711}');
    expect((await admin(service, '/reset', { token: true, method: 'POST', body: {} })).status).toBe(200);
    expect((await service.get('/inventory')).text).toBe(first);
    expect((await admin(service, '/keys/000000000000/ban', { token: true, method: 'DELETE' })).status).toBe(404);
    expect((await change('PUT', 'usage', { minute: -1 })).status).toBe(400);
  });
});

test('a reset without a body’s word brings back the stock that the service was started with', async () => {
  const stock = { items: [{ petId: 7n, quantity: 3n, status: 'sold' as const }], orders: ['{"order":1}'] };
  for (const options of [{ pets: 3, seed: 9, ids: 'small' as const }, { stock }]) {
    const service = await start({ adminPort: 0, ...options });
    const [first, orders] = [(await service.get('/inventory')).text, (await service.get('/store/orders')).text];
    const reset = (body: unknown) => admin(service, '/reset', { token: true, method: 'POST', body });
    await reset({ pets: 5 });
    expect((await service.get('/inventory')).json).toHaveLength(5);
    expect((await reset({})).status).toBe(200);
    expect([(await service.get('/inventory')).text, (await service.get('/store/orders')).text]).toEqual([
      first,
      orders,
    ]);
  }
});

test('clock, faults and journal are there only with test controls', async () => {
  const service = await start({ adminPort: 0, testControls: false });
  for (const [method, path] of [
    ['GET', '/journal'],
    ['GET', '/faults'],
    ['POST', '/faults'],
    ['DELETE', '/faults'],
    ['POST', '/clock'],
  ] as const) {
    expect(await admin(service, path, { token: true, method })).toMatchObject({
      status: 404,
      text: expect.stringContaining('--test-controls'),
    });
  }
  await service.get('/inventory');
  expect(service.journal()).toEqual([]);
});

test('with test controls it is alive, and never ready: nobody puts it behind a balancer by mistake', async () => {
  const service = await start({ adminPort: 0, testControls: true });
  expect((await admin(service, '/healthz')).status).toBe(200);
  expect(await admin(service, '/readyz')).toMatchObject({ status: 404, text: expect.stringContaining('never ready') });
});

test('a snapshot is put back with records, orders and what keys have used', async () => {
  const service = await start({ limits: { minute: 5, day: 9 }, ids: 'large' });
  const record = '{"id":9223372036854775807,"name":"Rex"}';
  const pet = { petId: 2n ** 63n - 1n, quantity: 2n ** 60n, status: 'sold' as const, record };
  await service.controls.importStock({ items: [pet], orders: ['{"order":12345678901234567890}'] });
  const read = async () => {
    const texts: string[] = [];
    for (const path of ['/inventory', '/pets/9223372036854775807', '/store/orders'])
      texts.push((await service.get(path)).text);
    return texts;
  };
  const snapshot = await service.controls.snapshot();
  const before = await read();
  await service.controls.reset();
  await service.controls.ban(service.keyId, 60);
  expect(await outcomes(service, 1)).toEqual(['429 key_banned']);
  await service.controls.restore(snapshot);
  expect(await read()).toEqual(before);
  expect(before).toEqual([
    expect.stringContaining(`{"petId":9223372036854775807,"quantity":${2n ** 60n},`),
    record,
    '[{"order":12345678901234567890}]',
  ]);
  expect(await outcomes(service, 3)).toEqual(['200', '200', '429 rate_limited']);
});

describe('X-Forwarded-For', () => {
  const seen = async (trustProxy: readonly string[], forwarded: string) => {
    const entries: LogEntry[] = [];
    const service = await start({ trustProxy, log: (entry) => entries.push(entry) });
    await service.get('/store/orders', { headers: { 'X-Forwarded-For': forwarded } });
    await service.close();
    return entries[0]?.address;
  };

  test.each([
    [[], '192.0.2.1', '127.0.0.1'],
    [['127.0.0.0/8'], '192.0.2.1', '192.0.2.1'],
    [['127.0.0.1'], '192.0.2.66, 192.0.2.1', '192.0.2.1'],
    [['127.0.0.1', '10.0.0.0/8'], '192.0.2.66, 192.0.2.1, 10.1.2.3', '192.0.2.1'],
    [['127.0.0.1'], '[2001:db8::7]:4711', '2001:db8::7'],
    [['127.0.0.1'], '192.0.2.9:4711', '192.0.2.9'],
    [['127.0.0.1'], 'unknown', '127.0.0.1'],
    [['10.0.0.0/8'], '192.0.2.1', '127.0.0.1'],
  ])('with %j trusted, %s is of %s', async (trusted, forwarded, address) => {
    expect(await seen(trusted, forwarded)).toBe(address);
  });

  test.each(['10.0.0.0/33', 'shop.example', '10.0.0.0/8/8', ''])('%s is no network', async (network) => {
    await expect(start({ trustProxy: [network] })).rejects.toThrow(RangeError);
  });

  test('the bucket of callers without a key is that of the client, not of the proxy', async () => {
    const service = await start({ trustProxy: ['127.0.0.1'], addressLimit: 1 });
    const from = async (address: string) =>
      outcome(await service.get('/inventory', { key: null, headers: { 'X-Forwarded-For': address } }));
    expect(await from('192.0.2.1')).toBe('401 missing_api_key');
    expect(await from('192.0.2.1')).toBe('429 address_rate_limited');
    expect(await from('192.0.2.2')).toBe('401 missing_api_key');
  });
});

test('the log has the cause of a 5xx, how the key begins, and the id of the request', async ({ file }) => {
  const entries: LogEntry[] = [];
  const service = await start({ file, log: (entry) => entries.push(entry) });
  rmSync(file);
  const { headers } = await service.get('/inventory');
  await service.close();
  expect(entries).toMatchObject([
    {
      id: headers['x-request-id'],
      status: 503,
      cause: expect.stringContaining('was deleted or replaced'),
      keyPrefix: null,
    },
  ]);
});

describe('TLS', () => {
  const files = (key: string) => ({
    cert: join(CERTIFICATES, 'server.pem'),
    key: join(CERTIFICATES, `${key}-key.pem`),
  });

  test('a request in the clear is not answered', async () => {
    const service = await start({ tls: files('server') });
    await expect(fetch(service.url.replace('https', 'http'))).rejects.toThrow();
  });

  test('files that do not fit are refused at the start', async () => {
    await expect(start({ tls: files('renewed') })).rejects.toThrow(/cannot be used/);
  });
});
