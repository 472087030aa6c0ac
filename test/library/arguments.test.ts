import { describe, expect } from 'vitest';
import { type PetstoreClientOptions, startSandbox, UsageError } from '../../src/library/index.ts';
import { openPetstoreClient as createPetstoreClient } from '../../src/library/petstore-client.ts';
import { test } from '../support/shop.ts';
import { clientOf } from './rig.ts';

/** Casts a value that the types forbid, but a JavaScript program may pass. */
const untyped = (value: unknown) => value as never;

describe('arguments that are not exact', () => {
  test.for([
    [Number('9007199254740993'), 77],
    ['1e3', 77],
    [2n ** 63n, 77],
    [null, 77],
    [[1], 77],
    [{ toString: () => '1' }, 77],
    [1n, Number.NaN],
    [1n, 2n ** 53n],
    [1n, '9007199254740993'],
    [1n, undefined],
  ])(
    'throws a UsageError without sending a request for updateInventory(%o, %o)',
    async ([petId, quantity], { shop }) => {
      const write = clientOf(shop).updateInventory(untyped(petId), untyped(quantity));
      await expect(write).rejects.toBeInstanceOf(UsageError);
      expect(shop.service.journal()).toEqual([]);
    },
  );

  test.for([
    ['get', '/inventory'],
    ['GET\r\nX: y', '/inventory'],
    ['GET', 'inventory'],
    ['GET', '/../admin'],
    ['GET', '/a/%2e%2e/b'],
    ['GET', '/a b'],
    ['GET', '/a#b'],
    [undefined, '/inventory'],
    ['GET', null],
  ])('throws a UsageError without sending a request for request(%o, %o)', async ([method, path], { shop }) => {
    await expect(clientOf(shop).request(untyped(method), untyped(path))).rejects.toBeInstanceOf(UsageError);
    expect(shop.service.journal()).toEqual([]);
  });

  test('rejects a path as an id, and an invalid signal, before sending a request', async ({ shop }) => {
    await expect(clientOf(shop).getPet('../store/orders')).rejects.toBeInstanceOf(UsageError);
    await expect(clientOf(shop).probe({ signal: untyped({}) })).rejects.toBeInstanceOf(UsageError);
    expect(shop.service.journal()).toEqual([]);
  });

  test.for([
    { petId: 1.5 },
    { since: new Date(Number.NaN) },
    { until: '2026-01-15' },
    { limit: -1 },
    { state: 'over' },
  ])('throws a UsageError for history(%o)', async (filter, { shop }) => {
    const runs = clientOf(shop, { stateFolder: shop.folders.state }).history(untyped(filter));
    await expect(runs[Symbol.asyncIterator]().next()).rejects.toBeInstanceOf(UsageError);
  });

  test.each([
    [{ timeout: 0 }, 'timeout'],
    [{ maxWait: -1 }, 'maxWait'],
    [{ baseUrl: 'http://store.example/v1' }, 'baseUrl: '],
    [{ key: 5 }, 'key'],
    [{ key: 'Bearer psk_key' }, 'key: '],
    [{ stateFolder: 7 }, 'stateFolder'],
    [{ stateUrl: 7 }, 'stateUrl'],
    [{ stateUrl: 'mysql://db.example/pets' }, 'stateUrl'],
  ])('throws a UsageError for createPetstoreClient(%o)', (options, words) => {
    const complete = { baseUrl: 'https://store.example/v1', key: 'psk_key', ...options } as PetstoreClientOptions;
    const error = { name: 'UsageError', message: expect.stringContaining(words) };
    expect(() => createPetstoreClient(complete)).toThrow(expect.objectContaining(error));
  });

  test('rejects an unknown kind of ids before sending a request', async ({ shop }) => {
    const client = clientOf(shop);
    const given = { ids: untyped('strings') };
    for (const call of [
      client.getPet(4, given),
      client.listOrders(given),
      client.request('GET', '/inventory', '', given),
    ])
      await expect(call).rejects.toThrow(new UsageError('ids must be one of exact, string'));
    expect(shop.service.journal()).toEqual([]);
  });

  test.each([
    { ids: untyped('tiny') },
    { pets: -1 },
    { port: 70_000 },
    { limits: { minute: 1.5, day: 2 } },
    { faults: ['*:nonsense'] },
  ])('throws a UsageError for startSandbox(%o)', async (options) => {
    await expect(startSandbox(options)).rejects.toBeInstanceOf(UsageError);
  });
});

test.for([
  [9007199254740993n, 4n, '9007199254740993', '4'],
  ['9007199254740993', '-4', '9007199254740993', '-4'],
  [1, -0, '1', '0'],
  [1, Number.MAX_SAFE_INTEGER, '1', '9007199254740991'],
] as const)(
  'sends updateInventory(%o, %o) with every digit',
  async ([petId, quantity, sentId, sentQuantity], { shop }) => {
    await clientOf(shop).updateInventory(petId, quantity);
    expect(shop.service.journal()).toMatchObject([
      { path: `/v1/inventory/${sentId}`, body: `{"quantity":${sentQuantity}}`, status: 200 },
    ]);
  },
);
