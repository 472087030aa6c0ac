import { describe, expect } from 'vitest';
import { type PetstoreClientOptions, startSandbox, UsageError } from '../../src/library/index.ts';
import { openPetstoreClient as createPetstoreClient } from '../../src/library/petstore-client.ts';
import { openShop, test } from '../support/shop.ts';

/** What a program in JavaScript may give, whatever the types say. */
const untyped = (value: unknown) => value as never;

async function open() {
  const shop = await openShop();
  const { service, clock } = shop;
  return { client: createPetstoreClient({ baseUrl: service.url, key: service.key, clock }), service };
}

describe('an argument that is not exact is a UsageError, and nothing is sent', () => {
  test.each([
    [Number('9007199254740993'), 77],
    ['1e3', 77],
    [1.5, 77],
    [Number.NaN, 77],
    [2n ** 63n, 77],
    [null, 77],
    [[1], 77],
    [{ toString: () => '1' }, 77],
    [1n, Number.NaN],
    [1n, Number.POSITIVE_INFINITY],
    [1n, 1.5],
    [1n, 2n ** 53n],
    [1n, '9007199254740993'],
    [1n, '+5'],
    [1n, undefined],
    [1n, true],
  ])('updateInventory(%o, %o)', async (petId, quantity) => {
    const { client, service } = await open();
    await expect(client.updateInventory(untyped(petId), untyped(quantity))).rejects.toBeInstanceOf(UsageError);
    expect(service.journal()).toEqual([]);
  });

  test.each([
    ['get', '/inventory'],
    ['GET\r\nX: y', '/inventory'],
    ['GET', 'inventory'],
    ['GET', '/../admin'],
    ['GET', '/a/%2e%2e/b'],
    ['GET', '/a b'],
    ['GET', '/a#b'],
    [undefined, '/inventory'],
    ['GET', null],
  ])('request(%o, %o)', async (method, path) => {
    const { client, service } = await open();
    await expect(client.request(untyped(method), untyped(path))).rejects.toBeInstanceOf(UsageError);
    expect(service.journal()).toEqual([]);
  });

  test('getPet and a signal', async () => {
    const { client, service } = await open();
    await expect(client.getPet('../store/orders')).rejects.toBeInstanceOf(UsageError);
    await expect(client.probe({ signal: untyped({}) })).rejects.toBeInstanceOf(UsageError);
    expect(service.journal()).toEqual([]);
  });

  test.for([
    { petId: 1.5 },
    { since: new Date(Number.NaN) },
    { until: '2026-01-15' },
    { limit: -1 },
    { state: 'over' },
  ])('history(%o)', async (filter, { shop: { service, clock, folders } }) => {
    const client = createPetstoreClient({
      baseUrl: service.url,
      key: service.key,
      clock,
      stateFolder: folders.state,
    });
    await expect(client.history(untyped(filter))[Symbol.asyncIterator]().next()).rejects.toBeInstanceOf(UsageError);
    await client.close();
  });

  test.each([
    { timeout: 0 },
    { timeout: Number.NaN },
    { maxWait: -1 },
    { maxWait: '5' },
    { key: 5 },
    { stateFolder: 7 },
    { stateUrl: 7 },
    { stateUrl: 'mysql://db.example/pets' },
  ])('createPetstoreClient with %o', (options) => {
    const complete = { baseUrl: 'https://store.example/v1', key: 'psk_key', ...options };
    expect(() => createPetstoreClient(complete as PetstoreClientOptions)).toThrow(UsageError);
  });

  test.each([{ pets: -1 }, { port: 70_000 }, { limits: { minute: 1.5, day: 2 } }, { faults: ['*:nonsense'] }])(
    'startSandbox with %o',
    async (options) => {
      await expect(startSandbox(options)).rejects.toBeInstanceOf(UsageError);
    },
  );
});

test.each([
  [9007199254740993n, 4n, '9007199254740993', '4'],
  ['9007199254740993', '-4', '9007199254740993', '-4'],
  [1, -0, '1', '0'],
  [1, Number.MAX_SAFE_INTEGER, '1', '9007199254740991'],
])('updateInventory(%o, %o) is exact', async (petId, quantity, sentId, sentQuantity) => {
  const { client, service } = await open();
  await client.updateInventory(petId, quantity);
  expect(service.journal()).toMatchObject([
    { path: `/v1/inventory/${sentId}`, body: `{"quantity":${sentQuantity}}`, status: 200 },
  ]);
});
