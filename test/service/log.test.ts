import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect, test } from 'vitest';
import type { LogEntry } from '../../src/service/index.ts';
import { idOfKey } from '../../src/service/keys/key.ts';
import { NOON, start } from './support.ts';

async function startLogged(options: Parameters<typeof start>[0] = {}) {
  const entries: LogEntry[] = [];
  const service = await start({ ...options, log: (entry) => entries.push(entry) });
  const logged = (count: number) => expect.poll(() => entries.length).toBe(count);
  return { service, entries, logged };
}

test('a request is logged once it is answered', async () => {
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
      path: '/v1/inventory',
      status: 200,
      ms: 0,
    },
  ]);
});

test('no entry holds a key, wherever one was put', async () => {
  const { service, entries, logged } = await startLogged();
  await service.get(`/inventory?key=${service.key}`);
  await service.get(`/inventory/${service.key}`);
  await service.get('/inventory', { key: 'psk_wrong' });
  await service.get('/inventory', { key: null });
  await logged(4);
  expect(JSON.stringify(entries)).not.toContain(service.key.slice(4));
  expect(entries.map(({ key, status }) => [key === null, status])).toEqual([
    [false, 200],
    [false, 405],
    [true, 401],
    [true, 401],
  ]);
  expect(entries[1]?.path).toBe('/v1/inventory/psk_…');
});

test('what could not be read is logged too, and what was never answered', async () => {
  const { service, entries, logged } = await startLogged({ faults: ['GET /pets/1:reset'] });
  await service.raw('hello\r\n\r\n');
  await logged(1);
  await expect(service.get('/pets/1')).rejects.toMatchObject({ code: 'ECONNRESET' });
  await logged(2);
  expect(entries).toMatchObject([
    { method: null, path: null, key: null, status: 400 },
    { method: 'GET', path: '/v1/pets/1', key: idOfKey(service.key), status: null },
  ]);
});

test('its duration is not that of a clock which is moved ahead', async () => {
  const { service, entries, logged } = await startLogged();
  const { hostname, port } = new URL(service.url);
  const headers = {
    Authorization: `Bearer ${service.key}`,
    'Content-Type': 'application/json',
    'Content-Length': 14,
  };
  const patch = request({ hostname, port, method: 'PATCH', path: '/v1/inventory/1', headers });
  const answered = once(patch, 'response');
  patch.write('{"quantity":');
  await expect.poll(() => service.journal()).toHaveLength(1);
  service.advanceClock(3600);
  service.clock.advance(7);
  patch.end('5}');
  const [answer] = (await answered) as [IncomingMessage];
  answer.resume();
  await logged(1);
  expect(entries).toMatchObject([{ path: '/v1/inventory/1', status: 200, ms: 7 }]);
});
