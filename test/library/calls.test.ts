import { execFile } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { startSandbox, UsageError } from '../../src/library/index.ts';
import { openPetstoreClient } from '../../src/library/petstore-client.ts';
import { createTestClock } from '../support/clock.ts';
import { within } from '../support/petstock.ts';
import { temporaryDatabase } from '../support/postgres.ts';
import { until } from '../support/scripted-service.ts';
import { openShop, temporaryFolders, test } from '../support/shop.ts';
import { clientOf, open } from './rig.ts';

test("ends one call with its signal's reason, and leaves other calls alone", async () => {
  const client = clientOf(await openShop({ faults: ['GET /store/orders:hang'] }));
  const controller = new AbortController();
  const reason = new Error('enough');
  // Once a response has reported the limit, two requests may be in flight at once.
  await client.probe();
  const hanging = client.listOrders({ signal: controller.signal }).catch((error) => error);
  expect((await client.updateInventory(1, 5)).quantity).toBe(5);
  controller.abort(reason);
  expect(await hanging).toBe(reason);
  await expect(client.probe({ signal: controller.signal })).rejects.toBe(reason);
  await client.probe();
});

test("ends a pending call with the reason of the client's signal, and refuses later calls", async () => {
  const all = new AbortController();
  const shop = await openShop({ faults: ['*:hang'] });
  const client = clientOf(shop, { signal: all.signal });
  const hanging = client.probe().catch((error) => error);
  const reason = new Error('enough');
  setImmediate(() => all.abort(reason));
  expect(await hanging).toBe(reason);
  shop.service.setFaults([]);
  await expect(client.probe()).rejects.toBe(reason);
});

test('aborts a write that waits for the rate limit', async () => {
  const waits: number[] = [];
  const hanging = { ...createTestClock(), sleep: hangingSleep };
  const faults = ['*:first=1:status=429:retry-after=60'];
  const { client } = await open({ clock: hanging, onWait: (ms) => waits.push(ms) }, { faults });
  const controller = new AbortController();
  const reason = new Error('enough');
  const refused = client.probe({ signal: controller.signal }).catch((error) => error);
  await until(() => expect(waits).toHaveLength(1));
  const writing = client.adjust(4, 1, { signal: controller.signal }).catch((error) => error);
  for (let turns = 0; turns < 50; turns += 1) await new Promise(setImmediate);
  controller.abort(reason);
  expect(await Promise.all([refused, writing])).toEqual([reason, reason]);
});

test('stops a list by its signal or an early exit, and leaves no listener behind', async () => {
  const all = new AbortController();
  const client = clientOf(await openShop({ pets: 5000 }), { signal: all.signal });
  for await (const _batch of client.listInventory()) break;
  const one = new AbortController();
  const reason = new Error('enough');
  const read = async () => {
    for await (const _batch of client.listInventory({ signal: one.signal })) one.abort(reason);
  };
  await expect(read()).rejects.toBe(reason);
  expect(getEventListeners(all.signal, 'abort')).toEqual([]);
});

test('waits in close for calls in flight, and refuses later calls', async () => {
  const { shop, client } = await open();
  const written = client.updateInventory(1, 5);
  await Promise.all([client.close(), client.close()]);
  expect((await written).quantity).toBe(5);
  await expect(client.probe()).rejects.toBeInstanceOf(UsageError);
  await expect(client.listInventory()[Symbol.asyncIterator]().next()).rejects.toBeInstanceOf(UsageError);
  expect(shop.service.journal()).toHaveLength(1);
  await clientOf(shop).close();
});

test('starts a sandbox with a URL and a key for clients, and lets a test set its faults', async () => {
  const sandbox = await startSandbox({ pets: 6, limits: { minute: 50, day: 100 } });
  onTestFinished(() => sandbox.close());
  const client = openPetstoreClient({ baseUrl: sandbox.url, key: sandbox.key });
  let pets = 0;
  for await (const batch of client.listInventory()) pets += batch.length;
  expect(pets).toBe(6);
  sandbox.setFaults(['PATCH /inventory/*:status=400']);
  await expect(client.updateInventory(1, 5)).rejects.toMatchObject({ status: 400 });
  expect(() => sandbox.setFaults(['*:nonsense'])).toThrow(UsageError);
  sandbox.advanceClock(60);
  expect(sandbox.requests().map(({ method, path, status }) => `${method} ${path} ${status}`)).toEqual([
    'GET /v1/inventory 200',
    'PATCH /v1/inventory/1 400',
  ]);
});

test('lets a program exit without closing its clients, with a state in a folder or in a database', async () => {
  const { service } = await openShop({ limits: { minute: 1000, day: 1000 } });
  const states = [{ stateFolder: (await temporaryFolders()).state }, { stateUrl: await temporaryDatabase() }];
  const options = states.map((state) => ({ baseUrl: service.url, key: service.key, ...state }));
  const script = `import { createPetstoreClient } from ${JSON.stringify(new URL('../../src/library/index.ts', import.meta.url).href)};
    for (const options of ${JSON.stringify(options)}) {
      const client = createPetstoreClient(options);
      await client.adjust(4, 1);
      console.log((await client.adjust(4, 1)).quantity);
    }`;
  const args = ['--import', 'tsx', '--input-type=module', '-e', script];
  const { stdout } = await within(15_000, 'the program', promisify(execFile)(process.execPath, args));
  expect(stdout).toBe('41\n43\n');
}, 60_000);

test('writes a pet in the order of the calls, and does not send a call aborted before its turn', async () => {
  const { shop, client } = await open({ clock: undefined }, { limits: { minute: 1000, day: 1000 } });
  const controller = new AbortController();
  const reason = new Error('enough');
  const writes = [5, 6, 7, 8].map((quantity, index) =>
    client.updateInventory(4, quantity, index === 2 ? { signal: controller.signal } : {}).catch((error) => error),
  );
  controller.abort(reason);
  expect(await writes[2]).toBe(reason);
  await Promise.all(writes);
  const sent = shop.service.journal().filter(({ method }) => method === 'PATCH');
  expect(sent.map(({ body }) => body)).toEqual(['{"quantity":5}', '{"quantity":6}', '{"quantity":8}']);
});

function hangingSleep(_ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
