import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, vi } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import {
  AuthError,
  FailureError,
  type InventoryItem,
  NotFoundError,
  PetstockError,
  petStatuses,
  RateLimitedError,
  RejectedError,
  UnavailableError,
} from '../../src/library/index.ts';
import { openPetstoreClient as createPetstoreClient } from '../../src/library/petstore-client.ts';
import { answer, openServer, stock } from '../api/server.ts';
import { openShop, temporaryFolders, test } from '../support/shop.ts';
import { clientOf } from './rig.ts';

test('lists, sets and reads without creating a state folder', async ({ shop }) => {
  const client = clientOf(shop);
  const items: InventoryItem[] = [];
  for await (const batch of client.listInventory()) items.push(...batch);
  expect(items).toHaveLength(24);
  expect(new Set(items.map(({ status }) => status))).toEqual(new Set(petStatuses));
  const written = { petId: 9007199254740993n, quantity: 4, status: 'sold' };
  expect(await client.updateInventory(9007199254740993n, 4)).toEqual(written);
  expect((await client.getPet(9007199254740993n)).headers).toHaveProperty('sunset');
  await client.listOrders();
  await client.probe();
  expect((await client.request('GET', '/inventory')).status).toBe(200);
  expect(() => readdirSync(shop.folders.state)).toThrow('ENOENT');
});

test('sends the key and the user agent, and leaves no connection open after close', async () => {
  const server = await openServer(answer(200, stock));
  const client = createPetstoreClient({ baseUrl: `${server.url}/`, key: ' psk_key\n' });
  await client.probe();
  await client.close();
  await expect.poll(() => server.connections).toEqual({ opened: 1, open: 0 });
  expect(server.requests[0]).toMatchObject({
    path: '/v1/inventory',
    headers: { authorization: 'Bearer psk_key', 'user-agent': `petstock/${packageJson.version}` },
  });
});

test.each([
  ['a wrong key', { key: 'psk_wrong' }, [], AuthError],
  ['an unknown pet', {}, [], NotFoundError],
  ['a 400', {}, ['*:status=400'], RejectedError],
  ['a 500', {}, ['*:status=500'], UnavailableError],
  ['a response that is not JSON', {}, ['*:malform'], FailureError],
  ['a wait that is too long', { maxWait: 1000 }, ['*:status=429:retry-after=60'], RateLimitedError],
])('throws the matching error class for %s', async (_what, options, faults, type) => {
  const client = clientOf(await openShop({ faults }), options);
  const petId = type === NotFoundError ? 424_242n : 9007199254740993n;
  const error = await client.updateInventory(petId, 1).catch((reason) => reason);
  expect(error).toBeInstanceOf(type);
  expect(error).toBeInstanceOf(PetstockError);
  expect(error.name).toBe(type.name);
});

test.each([0, 2])('retries a read %i times after a network failure, but never a write', async (retries) => {
  const shop = await openShop({ faults: ['*:reset'] });
  const client = clientOf(shop, { retries });
  await expect(client.probe()).rejects.toBeInstanceOf(UnavailableError);
  expect(shop.service.journal()).toHaveLength(1 + retries);
  await expect(client.updateInventory(4, 5)).rejects.toBeInstanceOf(UnavailableError);
  expect(shop.service.journal()).toHaveLength(2 + retries);
});

test('announces each wait, and applies maxWait to each request separately', async () => {
  const shop = await openShop({ limits: { minute: 1, day: 1000 } });
  const waits: number[] = [];
  const client = clientOf(shop, { onWait: (ms) => waits.push(Math.round(ms / 1000)) });
  for (let minute = 0; minute < 5; minute += 1) await client.probe();
  expect(shop.service.journal().map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(waits).toEqual([40, 60, 60, 60]);
});

test("replaces its guess of the service's clock with the first Date that the service sends", async () => {
  const later = Date.now() + 2 * 86_400_000;
  const [date, end] = [later, later + 60_000].map((time) => new Date(time).toUTCString());
  const server = await openServer(answer(200, stock), answer(429, '', { date: `${date}`, 'retry-after': `${end}` }));
  const client = createPetstoreClient({ baseUrl: server.url, key: 'psk_key', maxWait: 0 });
  await client.probe();
  const error = await client.probe().catch((reason) => reason);
  expect(error.retryAfterSeconds).toBeLessThan(70);
});

describe('stateFolder', () => {
  test('shares limits in a state folder among clients of the same key', async () => {
    const shop = await openShop({ faults: ['*:first=1:status=429:retry-after=50400'] });
    const stateFolder = shop.folders.state;
    await expect(clientOf(shop, { stateFolder }).probe()).rejects.toBeInstanceOf(RateLimitedError);
    await expect(clientOf(shop, { stateFolder }).probe()).rejects.toBeInstanceOf(RateLimitedError);
    expect(shop.service.journal()).toHaveLength(1);
    for (const name of readdirSync(stateFolder)) {
      expect(readFileSync(join(stateFolder, name), 'latin1')).not.toContain(shop.service.key);
    }
  });

  test("fails every request if the state folder can't be used, unless onFallback is set", async ({ shop }) => {
    const client = clientOf(shop, { stateFolder: '/dev/null' });
    await expect(client.probe()).rejects.toBeInstanceOf(FailureError);
    await expect(client.probe()).rejects.toBeInstanceOf(FailureError);
    expect(shop.service.journal()).toEqual([]);
    const reasons: Error[] = [];
    const other = clientOf(shop, { stateFolder: '/dev/null', onFallback: (reason) => reasons.push(reason) });
    await other.probe();
    await other.probe();
    expect(reasons).toEqual([expect.any(FailureError)]);
  });

  test.each([{}, { stateFolder: '/dev/null', onFallback: () => {} }])(
    'shares a gate without a usable state (%o) among clients, threads and later processes',
    async (state) => {
      vi.stubEnv('PETSTOCK_RUNTIME_DIR', (await temporaryFolders()).state);
      onTestFinished(() => void vi.unstubAllEnvs());
      const server = await openServer(answer(429, '{}', { 'retry-after': '600' }));
      const options = { baseUrl: server.url, key: 'psk_key', maxWait: 1000, ...state };
      for (let client = 0; client < 3; client += 1) {
        await expect(createPetstoreClient(options).probe()).rejects.toBeInstanceOf(RateLimitedError);
      }
      // Reloads the modules, like a test runner.
      vi.resetModules();
      const copy = await import('../../src/library/index.ts');
      expect(copy.createPetstoreClient).not.toBe(createPetstoreClient);
      await expect(copy.createPetstoreClient(options).probe()).rejects.toBeInstanceOf(copy.RateLimitedError);
      // Removes the limits from memory, where another thread or process would not have them.
      Reflect.deleteProperty(globalThis, Symbol.for(`petstock ${packageJson.version}: limits`));
      await expect(createPetstoreClient(options).probe()).rejects.toBeInstanceOf(RateLimitedError);
      expect(server.requests).toHaveLength(1);
    },
  );
});
