import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { openShop } from '../support/shop.ts';
import { createClientRig, openClient } from './client-rig.ts';
import { answer, hangInBody, item, stock, until } from './server.ts';

test('reuses a connection after a response of any status if its body was read', async () => {
  const compressed = await promisify<string, Buffer>(gzip)(stock);
  const { server, list, request, update } = await openClient([
    answer(200, stock),
    answer(200, compressed, { 'content-encoding': 'gzip' }),
    answer(204),
    answer(401, '{"code":"c","message":"m","status":401}'),
    answer(404, '<html>'),
    answer(429, 'slow down', { 'retry-after': '1' }),
    answer(302, 'moved', { location: '/v1/stock' }),
    answer(503, 'down'),
    answer(200, stock),
    answer(200, item),
  ]);
  await list();
  await list();
  await request('DELETE', '/inventory/7');
  await list().catch(() => {});
  await list().catch(() => {});
  await list();
  expect(server.requests).toHaveLength(9);
  for (let quantity = 0; quantity < 10; quantity += 1) await update(quantity);
  expect(server.requests).toHaveLength(19);
  expect(server.connections.opened).toBe(1);
});

test('closes the connection if a body was not read to its end', async () => {
  let closed = 0;
  const { server, client, clock } = await openClient([
    (response) => {
      response.on('close', () => {
        closed += 1;
      });
      hangInBody(response);
    },
  ]);
  for (let probe = 1; probe <= 3; probe += 1) await client.probe();
  await until(() => closed === 3);
  expect(server.requests).toHaveLength(3);
  expect(clock.sleeps).toEqual([]);
});

test('leaves no reference on an abort signal that outlives 100 requests', async () => {
  const { signal } = new AbortController();
  const { server, update } = await openClient([answer(200, item)], { interrupted: signal });
  for (let round = 0; round < 10; round += 1) {
    await Promise.all(Array.from({ length: 10 }, () => update(round)));
  }
  expect(server.requests).toHaveLength(100);
  // AbortSignal.any would keep a reference for each request in one of Node's own sets, which are not of the class Set.
  const kept = Object.getOwnPropertySymbols(signal)
    .map((symbol) => Reflect.get(signal, symbol))
    .filter((value) => value?.size > 0);
  expect(kept).toEqual([]);
});

test('sends 50 requests at once without a Node warning', async () => {
  const warnings: Error[] = [];
  const listener = (warning: Error) => warnings.push(warning);
  process.on('warning', listener);
  onTestFinished(() => void process.off('warning', listener));
  const { service, clock } = await openShop({ limits: { minute: 20, day: 1000 } });
  const { client } = createClientRig({ url: service.url, key: service.key, clock, maxWait: 1e9 });
  await Promise.all(Array.from({ length: 50 }, () => client.probe()));
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings).toEqual([]);
});
