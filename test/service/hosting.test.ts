import { rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, onTestFinished } from 'vitest';
import type { LogEntry } from '../../src/service/http/log.ts';
import { isLoopback, startService } from '../../src/service/index.ts';
import { temporaryPostgres } from '../support/postgres.ts';
import { authorityFile, pemFile } from '../support/tls.ts';
import { outcome, outcomes, start, type TestService, test } from './support.ts';

test.each([
  ['localhost', true],
  ['::1', true],
  ['127.0.0.9', true],
  ['127.example', false],
  ['10.127.0.1', false],
])('decides whether only this machine can reach %s: %j', (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});

describe('probes', () => {
  const probe = async (service: TestService, path = '/readyz') => {
    const { status, text } = await service.admin('GET', path, undefined, { key: null });
    return `${status} ${text}`;
  };
  const ok = '200 {"status":"ok"}';

  test('reports ready on /readyz without a token, and not ready once the service drains', async () => {
    const service = await start({ adminPort: 0, testControls: false });
    expect([await probe(service, '/healthz'), await probe(service)]).toEqual([ok, ok]);
    service.drain();
    expect([await probe(service, '/healthz'), await probe(service)]).toEqual([ok, '503 {"status":"draining"}']);
    expect(await service.get('/inventory')).toMatchObject({ status: 200, headers: { connection: 'close' } });
  });

  test('reports not ready on /readyz once the database file is removed', async ({ file }) => {
    const service = await start({ file, adminPort: 0, testControls: false });
    rmSync(file);
    expect(await probe(service)).toMatch(/^503 /);
  });

  test('reports healthy on /healthz, but never ready on /readyz, with test controls', async () => {
    const service = await start({ adminPort: 0, testControls: true });
    expect(await probe(service, '/healthz')).toBe(ok);
    expect(await probe(service)).toMatch(/^404 .*never ready/);
  });
});

describe('metrics', () => {
  test('accepts a metrics token for metrics only', async () => {
    const service = await start({ adminPort: 0, metricsToken: 'a-token-for-metrics' });
    const key = 'a-token-for-metrics';
    expect(await service.admin('GET', '/metrics', undefined, { key: null })).toMatchObject({ status: 401 });
    expect(await service.admin('GET', '/metrics', undefined, { key })).toMatchObject({ status: 200 });
    expect(await service.admin('POST', '/reset', {}, { key })).toMatchObject({ status: 401 });
  });

  test('counts requests, refusals, bans and operations in metrics, without pet ids or keys', async () => {
    const service = await start({ adminPort: 0, limits: { minute: 3, day: 9 }, ban: { strikes: 0, seconds: 300 } });
    await service.patch('/inventory/1', '{"quantity":5}');
    await service.get('/pets/1');
    await service.get('/nowhere/12345');
    expect(await outcomes(service, 1)).toEqual(['429 rate_limited']);
    service.clock.advance(1_001);
    expect(await outcomes(service, 2)).toEqual(['429 key_banned', '429 key_banned']);
    await service.get('/inventory', { key: null });
    await service.raw('hello\r\n\r\n');
    const { text, headers } = await service.admin('GET', '/metrics');
    expect(headers['content-type']).toMatch(/^text\/plain; version=0.0.4/);
    expect(text.split('\n')).toEqual(
      expect.arrayContaining([
        'petstock_http_requests_total{method="PATCH",route="/inventory/{petId}",status="200"} 1',
        'petstock_http_requests_total{method="GET",route="other",status="404"} 1',
        'petstock_http_requests_total{method="other",route="other",status="400"} 1',
        'petstock_http_requests_total{method="GET",route="/inventory",status="429"} 3',
        'petstock_http_requests_total{method="GET",route="/inventory",status="401"} 1',
        'petstock_http_request_duration_seconds_count{method="GET",route="/inventory"} 4',
        'petstock_refusals_total{code="rate_limited"} 1',
        'petstock_refusals_total{code="key_banned"} 2',
        'petstock_bans_total 1',
        'petstock_stock_operations_total{operation="set"} 1',
        'petstock_store_up 1',
        'petstock_store_duration_seconds_count{operation="admit"} 6',
        'petstock_store_duration_seconds_count{operation="find"} 1',
        'petstock_store_connections{state="busy"} 0',
      ]),
    );
    expect(text).toMatch(/petstock_key_used\{key="\w{12}",name="",window="minute"\} 3/);
    expect(text).toMatch(/petstock_key_banned\{key="\w{12}",name=""\} 1/);
    expect(text).toMatch(/process_cpu_seconds_total /);
    expect(text).toMatch(/petstock_build_info\{version="\d/);
    expect(text).not.toMatch(/12345|psk_/);
    // `promtool check metrics` reports a gauge with such a name as a mistake.
    expect(text).not.toMatch(/^# TYPE \w+_total gauge/m);
  });
});

describe('administration of stock, usage and bans', () => {
  test('adds, changes and removes a pet through the administration, with exact digits', async () => {
    const service = await start({ adminPort: 0 });
    const path = '/inventory/9007199254740995';
    const put = (body: string) => service.admin('PUT', path, body);
    const text = '{"petId":9007199254740995,"quantity":9007199254740997,"status":"sold"}';
    expect(await put('{"quantity":9007199254740997,"status":"sold"}')).toMatchObject({ status: 201, text });
    expect((await put('{"status":"pending"}')).text).toContain('"quantity":9007199254740997,"status":"pending"');
    expect((await put('{"quantity":1.5}')).status).toBe(400);
    expect((await service.get('/inventory')).text).toContain('{"petId":9007199254740995,');
    expect((await service.admin('DELETE', path)).status).toBe(200);
    expect((await service.admin('DELETE', path)).status).toBe(404);
  });

  test('sets and clears the usage and the ban of a key through the administration', async () => {
    const service = await start({ adminPort: 0, limits: { minute: 5, day: 9 } });
    await service.get('/inventory');
    const { json } = await service.admin('GET', '/keys');
    const [key] = json as [{ id: string }];
    expect(key).toMatchObject({ minute: { limit: 5, used: 1 }, day: { limit: 9, used: 1 }, bannedUntil: null });
    expect((await service.admin('PUT', `/keys/${key.id}/usage`, { minute: 5 })).status).toBe(200);
    expect(await outcomes(service, 1)).toEqual(['429 rate_limited']);
    await service.admin('PUT', `/keys/${key.id}/usage`, { minute: 0, day: 0 });
    await service.admin('PUT', `/keys/${key.id}/ban`, { seconds: 60 });
    const banned = await service.get('/inventory');
    expect([outcome(banned), banned.headers['retry-after']]).toEqual(['429 key_banned', '60']);
    expect((await service.admin('DELETE', `/keys/${key.id}/ban`)).json).toMatchObject({ bannedUntil: null });
    expect(await outcomes(service, 1)).toEqual(['200']);
    expect((await service.admin('DELETE', '/keys/000000000000/ban')).status).toBe(404);
    expect((await service.admin('PUT', `/keys/${key.id}/usage`, { minute: -1 })).status).toBe(400);
  });

  test('sets a ban in whole milliseconds after the clock was advanced by 1.2345 s', async () => {
    const service = await start({ adminPort: 0, limits: { minute: 1, day: 9 } });
    expect((await service.admin('POST', '/clock', { advanceSeconds: 1.2345 })).status).toBe(200);
    expect(await outcomes(service, 2)).toEqual(['200', '429 rate_limited']);
    const banned = await service.admin('PUT', `/keys/${service.keyId}/ban`, { seconds: 1.2345 });
    expect(banned).toMatchObject({ status: 200, json: { bannedUntil: '2026-03-10T12:00:02.470Z' } });
    expect(await outcomes(service, 1)).toEqual(['429 key_banned']);
  });

  const stock = { items: [{ petId: 7n, quantity: 3n, status: 'sold' as const }], orders: ['{"order":1}'] };

  test.each([
    ['usual', {}],
    ['seeded', { pets: 3, seed: 9, ids: 'small' as const }],
    ['given', { stock }],
  ])('restores the %s initial stock on a reset with an empty body', async (_what, options) => {
    const service = await start({ adminPort: 0, ...options });
    const read = async () => [(await service.get('/inventory')).text, (await service.get('/store/orders')).text];
    const first = await read();
    await service.patch('/inventory/1', '{"quantity":4711}');
    await service.admin('POST', '/reset', { pets: 5 });
    expect((await service.get('/inventory')).json).toHaveLength(5);
    expect((await service.admin('POST', '/reset', {})).status).toBe(200);
    expect(await read()).toEqual(first);
  });
});

test.each([
  ['GET', '/journal'],
  ['GET', '/faults'],
  ['POST', '/faults'],
  ['DELETE', '/faults'],
  ['POST', '/clock'],
])('offers %s %s only with test controls', async (method, path) => {
  const service = await start({ adminPort: 0, testControls: false });
  const text = expect.stringContaining('--test-controls');
  expect(await service.admin(method, path)).toMatchObject({ status: 404, text });
  await service.get('/inventory');
  expect(service.journal()).toEqual([]);
});

test('restores a snapshot with records, orders and used limits', async () => {
  const service = await start({ limits: { minute: 8, day: 9 }, ids: 'large' });
  const record = '{"id":9223372036854775807,"name":"Rex"}';
  const pet = { petId: 2n ** 63n - 1n, quantity: 2n ** 60n, status: 'sold' as const, record };
  await service.controls.importStock({ items: [pet], orders: ['{"order":12345678901234567890}'] });
  const expectRestored = async () => {
    const list = '[{"petId":9223372036854775807,"quantity":1152921504606846976,"status":"sold"}]';
    expect((await service.get('/inventory')).text).toBe(list);
    expect((await service.get('/pets/9223372036854775807')).text).toBe(record);
    expect((await service.get('/store/orders')).text).toBe('[{"order":12345678901234567890}]');
  };
  await expectRestored();
  const snapshot = await service.controls.snapshot();
  await service.controls.reset();
  await service.controls.ban(service.keyId, 60);
  expect(await outcomes(service, 1)).toEqual(['429 key_banned']);
  await service.controls.restore(snapshot);
  await expectRestored();
  expect(await outcomes(service, 3)).toEqual(['200', '200', '429 rate_limited']);
});

describe('X-Forwarded-For', () => {
  test.each([
    [[], '192.0.2.1', '127.0.0.1'],
    [['127.0.0.0/8'], '192.0.2.1', '192.0.2.1'],
    [['127.0.0.1'], '192.0.2.66, 192.0.2.1', '192.0.2.1'],
    [['127.0.0.1', '10.0.0.0/8'], '192.0.2.66, 192.0.2.1, 10.1.2.3', '192.0.2.1'],
    [['127.0.0.1'], '[2001:db8::7]:4711', '2001:db8::7'],
    [['127.0.0.1'], '192.0.2.9:4711', '192.0.2.9'],
    [['127.0.0.1'], '::ffff:192.0.2.9', '192.0.2.9'],
    [['127.0.0.1'], '::ffff:c000:209', '::ffff:c000:209'],
    [['127.0.0.1'], 'unknown', '127.0.0.1'],
    [['10.0.0.0/8'], '192.0.2.1', '127.0.0.1'],
  ])(
    'trusts the proxies %j with X-Forwarded-For: %s, and logs the client as %s',
    async (trustProxy, forwarded, address) => {
      const entries: LogEntry[] = [];
      const service = await start({ trustProxy, log: (entry) => entries.push(entry) });
      await service.get('/store/orders', { headers: { 'X-Forwarded-For': forwarded } });
      await service.close();
      expect(entries).toMatchObject([{ address }]);
    },
  );

  test.each(['10.0.0.0/33', 'shop.example', '10.0.0.0/8/8', ''])('refuses to trust the network %s', async (network) => {
    await expect(start({ trustProxy: [network] })).rejects.toThrow(RangeError);
  });

  test('limits requests without a key by client, not by proxy', async () => {
    const service = await start({ trustProxy: ['127.0.0.1'], addressLimit: 1 });
    const from = async (address: string) =>
      outcome(await service.get('/inventory', { key: null, headers: { 'X-Forwarded-For': address } }));
    expect(await from('192.0.2.1')).toBe('401 missing_api_key');
    expect(await from('192.0.2.1')).toBe('429 address_rate_limited');
    expect(await from('192.0.2.2')).toBe('401 missing_api_key');
  });
});

test('logs the cause and the request id of a 503, but not a key that could not be checked', async ({ file }) => {
  const entries: LogEntry[] = [];
  const service = await start({ file, log: (entry) => entries.push(entry) });
  rmSync(file);
  const { headers } = await service.get('/inventory');
  await service.close();
  const cause = expect.stringContaining('was deleted or replaced');
  expect(entries).toMatchObject([{ id: headers['x-request-id'], status: 503, cause, keyPrefix: null }]);
});

describe('TLS', () => {
  const trusted = `sslrootcert=${authorityFile}`;

  test('interprets sslmode for the database like psql', { timeout: 60_000 }, async () => {
    const { port } = await temporaryPostgres({ tcp: 'tls', access: ['hostssl all all 127.0.0.1/32 trust'] });
    for (const [parameters, expected] of [
      [`sslmode=verify-full&${trusted}`, /^served$/],
      [`sslmode=verify-ca&${trusted}`, /^served$/],
      ['sslmode=verify-full', /certificate/],
      ['sslmode=require', /^served$/],
      ['sslmode=disable', /no encryption/],
      ['keepalives=1', /^served$/],
      ['channel_binding=require', /channel_binding/],
    ] as const) {
      const database = `postgresql://postgres@127.0.0.1:${port}/postgres?${parameters}`;
      const outcome = await startService({ database, clock: Date }).then(
        (service) => service.close().then(() => 'served'),
        ({ message }: Error) => message,
      );
      expect(outcome, parameters).toMatch(expected);
    }
  });

  test.each([
    'sslmode=require',
    'sslmode=require&keepalives=1&gssencmode=prefer',
    'ssl=true',
    'sslmode=require&uselibpqcompat=true',
    'sslmode=require&SSLMODE=disable',
    'sslmode=require&sslmode=disable',
    'sslmode=require&connect_timeout=0',
    'sslmode=require&options=-c%20a%3Db',
  ])('does not send credentials to a database that refuses TLS: %s', async (parameters) => {
    const heard: Buffer[] = [];
    // The server has no TLS, or an attacker pretends that it has none.
    const server = createServer((socket) => void socket.on('data', (bytes) => heard.push(bytes) && socket.write('N')));
    onTestFinished(() => void server.close());
    const port = await new Promise((resolve) =>
      server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
    );
    const database = `postgresql://ann:Geheim@127.0.0.1:${port}/postgres?${parameters}`;
    await expect(startService({ database, clock: Date })).rejects.toThrow();
    const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
    expect(heard.filter((bytes) => !bytes.equals(sslRequest))).toEqual([]);
  });

  const files = (key: string) => ({ cert: pemFile('server'), key: pemFile(`${key}-key`) });

  test('does not answer plain HTTP if it serves HTTPS', async () => {
    const service = await start({ tls: files('server') });
    expect(service.url).toMatch(/^https:/);
    await expect(fetch(service.url.replace('https', 'http'))).rejects.toThrow();
  });

  test('refuses to start with a certificate and a key that do not match', async () => {
    await expect(start({ tls: files('renewed') })).rejects.toThrow(/can't be used/);
  });
});
