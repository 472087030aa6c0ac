import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { AuthError, FailureError, NotFoundError } from '../../src/shared/errors.ts';
import { openShop, type Shop } from '../support/shop.ts';
import { createClientRig, key, openClient } from './client-rig.ts';
import { answer, item, openServer, stock } from './server.ts';

function visit({ service, clock }: Shop, options: { readonly key?: string } = {}) {
  return createClientRig({ url: service.url, key: service.key, clock, ...options });
}

describe('what leaves', () => {
  const always = {
    authorization: `Bearer ${key}`,
    accept: 'application/json',
    'accept-encoding': 'gzip, deflate, br',
    'user-agent': 'petstock/1.2.3',
    connection: 'keep-alive',
  };

  test('a GET has exactly these headers and no body', async () => {
    const server = await openServer(answer(200, stock));
    await createClientRig({ url: server.url }).list();
    const host = server.origin.slice('http://'.length);
    expect(server.requests).toEqual([{ method: 'GET', path: '/v1/inventory', headers: { ...always, host }, body: '' }]);
  });

  test('a PATCH has a content type and exactly the quantity', async () => {
    const server = await openServer(answer(200, item));
    await createClientRig({ url: server.url }).client.updateInventory(9223372036854775807n, -3);
    const host = server.origin.slice('http://'.length);
    expect(server.requests).toEqual([
      {
        method: 'PATCH',
        path: '/v1/inventory/9223372036854775807',
        headers: { ...always, host, 'content-type': 'application/json', 'content-length': '15' },
        body: '{"quantity":-3}',
      },
    ]);
  });

  test.each([
    ['getPet', 'GET /v1/pets/7'],
    ['listOrders', 'GET /v1/store/orders'],
    ['probe', 'GET /v1/inventory'],
  ] as const)('%s is %s', async (operation, expected) => {
    const { server, client } = await openClient([answer(200, '{}')]);
    await (operation === 'getPet' ? client.getPet(7n) : client[operation]());
    expect(server.requests.map(({ method, path, body }) => `${method} ${path}${body}`)).toEqual([expected]);
  });

  test('any request, byte for byte', async () => {
    const { server, client } = await openClient([answer(200, Buffer.from([0, 255, 10]), { 'x-a': ['1', '2'] })]);
    const body = '{ "quantity" : 3 }\n';
    const raw = await client.request('PUT', '/inventory/7?dry=1&a=%20', body);
    expect(raw).toMatchObject({ status: 200, headers: { 'x-a': ['1', '2'] }, failure: undefined });
    expect([...raw.body]).toEqual([0, 255, 10]);
    expect(server.requests[0]).toMatchObject({ method: 'PUT', path: '/v1/inventory/7?dry=1&a=%20', body });
  });

  test.each(['HEAD', 'OPTIONS', 'DELETE'])('%s without a body', async (method) => {
    const server = await openServer(answer(204, '', { 'content-encoding': 'gzip' }));
    const { status, body } = await createClientRig({ url: server.url }).client.request(method, '/inventory');
    expect([status, body.length]).toEqual([204, 0]);
    expect(server.requests[0]?.headers['content-type']).toBeUndefined();
  });

  test('the answer to a HEAD, which tells of a body that does not come', async () => {
    const server = await openServer((response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': '100' }).end();
    });
    const { status, body } = await createClientRig({ url: server.url }).client.request('HEAD', '/inventory');
    expect([status, body.length]).toEqual([200, 0]);
  });
});

describe('against the service', () => {
  test('the limits are seen', async () => {
    const { client, governor } = visit(await openShop({ plan: 'free' }));
    await client.probe();
    expect(governor.lastSeen).toMatchObject({ limit: 60n, remaining: 59n, resetIn: 40_000 });
  });

  test('without the rate limit headers it goes on', async () => {
    const faults = ['*:without=x-ratelimit-limit,x-ratelimit-remaining,x-ratelimit-reset,date'];
    const { list, governor } = visit(await openShop({ faults }));
    expect(await list()).toHaveLength(24);
    expect(governor.lastSeen).toBeUndefined();
  });
});

describe('what an answer may be', () => {
  test('JSON with a byte order mark', async () => {
    const server = await openServer(answer(200, `\uFEFF${stock}`));
    expect(await createClientRig({ url: server.url }).list()).toHaveLength(1);
  });

  test('UTF-8 that is cut between any two bytes', async () => {
    const bytes = Buffer.from(`[{"petId":7,"quantity":3,"status":"vergeben 🐱"}]`);
    const server = await openServer((response) => {
      response.writeHead(200);
      for (const byte of bytes) response.write(Buffer.of(byte));
      response.end();
    });
    expect(await createClientRig({ url: server.url }).list()).toEqual([
      { petId: 7n, quantity: 3, status: 'vergeben 🐱' },
    ]);
  });

  test.each([
    ['bytes that are no UTF-8', answer(200, Buffer.from([0x5b, 0xff, 0x5d])), 'is not UTF-8 text'],
    ['a lone surrogate in UTF-8', answer(200, Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])), 'is not UTF-8 text'],
    ['nothing', answer(200), 'is empty'],
    ['nothing, with 204', answer(204), 'The service answered 204, where 200 was expected'],
    ['a list, with 202', answer(202, stock), 'The service answered 202, where 200 was expected'],
    ['a part of a list, with 206', answer(206, stock), 'The service answered 206, where 200 was expected'],
    ['HTML', answer(200, '<html>'), 'is HTML'],
    ['half of a list', answer(200, stock.slice(0, 20)), 'is not valid JSON'],
    ['an unknown content encoding', answer(200, stock, { 'content-encoding': 'zstd' }), 'encoding, "zstd"'],
    ['two content encodings', answer(200, stock, { 'content-encoding': 'gzip, br' }), 'encoding, "gzip, br"'],
    ['a 304', answer(304), 'The service answered 304'],
  ])('%s is no sense', async (_what, answerer, words) => {
    const { list, sentAt } = await openClient([answerer]);
    const error = await list().catch((reason) => reason);
    expect(error).toBeInstanceOf(FailureError);
    expect(error.message).toContain(words);
    expect(sentAt()).toHaveLength(1);
  });

  // What only words the error can't turn it into another one.
  test.each([
    ['bytes that are no UTF-8', answer(401, Buffer.from([0xe9, 0xff]))],
    ['an unknown content encoding', answer(401, 'x', { 'content-encoding': 'zstd' })],
    ['a corrupt gzip', answer(401, 'x', { 'content-encoding': 'gzip' })],
    ['a body that is cut short', cutShort],
  ])('a 401 with %s is a 401, and is not tried again', async (_what, answerer) => {
    const { list, client, sentAt } = await openClient([answerer]);
    await expect(list()).rejects.toBeInstanceOf(AuthError);
    await expect(client.probe()).rejects.toBeInstanceOf(AuthError);
    expect(sentAt()).toHaveLength(2);
  });

  test('a failure of any request is a value, not thrown', async () => {
    const server = await openServer(answer(404, '{"code":"c","message":"m","status":404}'));
    const { failure, body } = await createClientRig({ url: server.url }).client.request('POST', '/x', '{}');
    expect(failure).toBeInstanceOf(NotFoundError);
    expect(Buffer.from(body).toString()).toContain('"m"');
  });
});

function cutShort(response: ServerResponse): void {
  response.writeHead(401, { 'content-length': 100 }).write('{"code":', () => response.socket?.destroy());
}
