import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { LogEntry } from '../../src/service/http/log.ts';
import { Journal } from '../../src/service/journal.ts';
import { idOfKey } from '../../src/service/keys/key.ts';
import { NOON, start, temporaryFile } from './support.ts';

async function startLogged(options: Parameters<typeof start>[0] = {}) {
  const entries: LogEntry[] = [];
  const service = await start({ ...options, log: (entry) => entries.push(entry) });
  const logged = (count: number) => expect.poll(() => entries.length).toBe(count);
  return { service, entries, logged };
}

test('logs a request with its route, key id and status once it is answered', async () => {
  const { service, entries, logged } = await startLogged();
  const answer = await service.get('/inventory?status=sold');
  await logged(1);
  expect(entries).toEqual([
    {
      time: new Date(NOON).toISOString(),
      id: answer.headers['x-request-id'],
      address: '127.0.0.1',
      cause: null,
      keyPrefix: service.key.slice(0, 8),
      key: idOfKey(service.key),
      method: 'GET',
      route: '/v1/inventory',
      petId: null,
      status: 200,
      ms: 0,
    },
  ]);
});

test('logs only the route and the id of a path, since a path may contain a key', async () => {
  const { service, entries, logged } = await startLogged();
  const encoded = service.key.replace('psk', '%70%73k');
  for (const path of [
    `/inventory?key=${service.key}`,
    `/inventory/${service.key}`,
    `/pets/${encoded}`,
    `/${service.key}/h7Qk2mZx9`,
    '/pets/h7Qk2mZx9LpW4vNa8TcR',
    '/pets/9007199254740993',
  ]) {
    await service.get(path);
  }
  for (const key of ['psk_wrong', null]) await service.get('/inventory', { key });
  await logged(8);
  expect(new Set(entries.map(({ id }) => id)).size).toBe(8);
  const seen = JSON.stringify([entries, service.journal()]);
  for (const secret of [service.key.slice(4), '%70', 'h7Qk', 'wrong']) expect(seen).not.toContain(secret);
  expect(entries.map(({ route, petId, status }) => `${status} ${route} ${petId}`)).toEqual([
    '200 /v1/inventory null',
    '405 /v1/inventory/{petId} null',
    '400 /v1/pets/{petId} null',
    '404 null null',
    '400 /v1/pets/{petId} null',
    '200 /v1/pets/{petId} 9007199254740993',
    '401 /v1/inventory null',
    '401 /v1/inventory null',
  ]);
});

test("logs a request that can't be read, and one that is never answered", async () => {
  const { service, entries, logged } = await startLogged({ faults: ['GET /pets/1:reset'] });
  await service.raw('hello\r\n\r\n');
  await logged(1);
  await expect(service.get('/pets/1')).rejects.toMatchObject({ code: 'ECONNRESET' });
  await logged(2);
  expect(entries).toMatchObject([
    { method: null, route: null, key: null, status: 400, address: '127.0.0.1' },
    { method: 'GET', route: '/v1/pets/{petId}', petId: '1', key: idOfKey(service.key), status: null },
  ]);
});

test('excludes advances of the clock by the administration from logged durations', async () => {
  const { service, entries, logged } = await startLogged({ adminPort: 0 });
  const headers = { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json', 'Content-Length': 14 };
  const patch = request(`${service.url}/inventory/1`, { method: 'PATCH', headers });
  const answered = once(patch, 'response');
  patch.write('{"quantity":');
  await expect.poll(() => service.journal()).toHaveLength(1);
  service.advanceClock(3600);
  service.clock.advance(7);
  patch.end('5}');
  const [answer] = (await answered) as [IncomingMessage];
  answer.resume();
  await logged(1);
  expect(entries).toMatchObject([{ petId: '1', status: 200, ms: 7 }]);
  expect((await service.admin('GET', '/metrics')).text).toMatch(
    /^petstock_http_request_duration_seconds_sum.* 0\.007$/m,
  );
});

describe('events of the log', () => {
  async function startTold(options: Parameters<typeof start>[0] = {}) {
    const told: object[] = [];
    const tell = (level: string, message: string, fields = {}) => void told.push({ level, message, ...fields });
    return { told, service: await start({ adminPort: 0, ...options, tell }) };
  }

  test('logs each administrative action except reads, with its outcome and no secret', async () => {
    const { told, service } = await startTold();
    await service.admin('GET', '/keys');
    await service.admin('PUT', '/inventory/5', { quantity: 3 });
    await service.admin('DELETE', `/keys/${service.key}/ban`);
    await service.admin('POST', '/reset', { wrong: 1 });
    const common = { level: 'info', message: 'Administration', address: '127.0.0.1' };
    expect(told).toEqual([
      { ...common, action: 'PUT /inventory/*', target: '5', status: 200 },
      { ...common, action: 'DELETE /keys/*/ban', target: null, status: 404 },
      { ...common, action: 'POST /reset', target: null, status: 400 },
    ]);
  });

  test('logs a refused administration token at once, and then the number of refusals every 10 s', async () => {
    const { told, service } = await startTold();
    const refuse = () => service.admin('POST', '/reset', {}, { key: 'adm_of-somebody-else' });
    for (let count = 0; count < 5; count++) await refuse();
    service.clock.advance(10_000);
    await refuse();
    expect(told).toMatchObject([{ level: 'warning', count: 1, address: '127.0.0.1' }, { count: 5 }]);
    expect(JSON.stringify(told)).not.toContain('adm_');
  });

  test('logs that the storage is lost, with the reason, and later that it is back', async () => {
    const file = temporaryFile();
    const { told, service } = await startTold({ file });
    renameSync(file, `${file}.aside`);
    for (let count = 0; count < 3; count++) expect((await service.get('/inventory')).status).toBe(503);
    await expect.poll(() => told).toHaveLength(1);
    renameSync(`${file}.aside`, file);
    await service.get('/inventory');
    await expect
      .poll(() => told)
      .toMatchObject([
        { level: 'error', message: expect.stringContaining('deleted or replaced') },
        { level: 'info', message: 'Stock changes can be committed again' },
      ]);
  });

  test('logs refused connections, and still answers the administration', async () => {
    const { told, service } = await startTold({ maxConnections: 2 });
    const { port } = new URL(service.url);
    const sockets = Array.from({ length: 5 }, () => connect(Number(port), '127.0.0.1').on('error', () => {}));
    onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
    await expect
      .poll(() => told)
      .toMatchObject([{ level: 'warning', message: 'A connection was refused because 2 connections are open' }]);
    expect((await service.admin('GET', '/healthz', undefined, { key: null })).status).toBe(200);
  });
});

test('keeps the first 1,024 characters of a body in the journal', async () => {
  const { service } = await startLogged();
  await service.patch('/inventory/1', '{"quantity":5}'.padEnd(16_384));
  expect(service.journal()).toMatchObject([{ body: '{"quantity":5}'.padEnd(1_024), status: 200 }]);
});

test('keeps the last 10,000 requests in the journal, or none if the journal is off', () => {
  const [journal, none] = [new Journal(true), new Journal(false)];
  for (let count = 0; count < 25_000; count++) {
    for (const one of [journal, none]) one.open(count, 'GET', '/v1/inventory').status = 200;
  }
  const times = journal.entries().map(({ time }) => time);
  expect([times.length, times[0], times.at(-1)]).toEqual([10_000, 15_000, 24_999]);
  expect(none.entries()).toEqual([]);
});
