import { describe, expect, test } from 'vitest';
import { operations } from '../../src/api/specification.ts';
import { key, openClient } from './client-rig.ts';
import { type Answerer, answer, item, stock } from './server.ts';

describe('requests of the client', () => {
  const always = {
    authorization: `Bearer ${key}`,
    accept: 'application/json',
    'accept-encoding': 'gzip, deflate, br',
    'user-agent': 'petstock/1.2.3',
    connection: 'keep-alive',
  };

  test('sends exactly the documented headers, and only the quantity in a PATCH', async () => {
    const { server, list, update } = await openClient([answer(200, stock), answer(200, item)]);
    await list();
    await update(-3, 9223372036854775807n);
    const headers = { ...always, host: server.origin.slice('http://'.length) };
    expect(server.requests).toEqual([
      { method: 'GET', path: '/v1/inventory', headers, body: '' },
      {
        method: 'PATCH',
        path: '/v1/inventory/9223372036854775807',
        headers: { ...headers, 'content-type': 'application/json', 'content-length': '15' },
        body: '{"quantity":-3}',
      },
    ]);
  });

  test('sends any request and returns its response byte for byte', async () => {
    const { server, request } = await openClient([answer(200, Buffer.from([0, 255, 10]), { 'x-a': ['1', '2'] })]);
    const body = '{ "quantity" : 3 }\n';
    const raw = await request('PUT', '/inventory/7?dry=1&a=%20', body);
    expect(raw).toMatchObject({ status: 200, headers: { 'x-a': ['1', '2'] }, failure: undefined });
    expect([...raw.body]).toEqual([0, 255, 10]);
    expect(server.requests[0]).toMatchObject({ method: 'PUT', path: '/v1/inventory/7?dry=1&a=%20', body });
  });

  // The response to a HEAD announces a body that is never sent.
  test.each<[string, Answerer]>([
    ['HEAD', (response) => response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': '100' }).end()],
    ...['HEAD', 'OPTIONS', 'DELETE'].map((method): [string, Answerer] => {
      return [method, answer(204, '', { 'content-encoding': 'gzip' })];
    }),
  ])('returns an empty body for %s, and sends no content type', async (method, answerer) => {
    const { server, request } = await openClient([answerer]);
    expect((await request(method, '/inventory')).body).toHaveLength(0);
    expect(server.requests[0]?.headers['content-type']).toBeUndefined();
  });
});

describe('responses to the client', () => {
  test.each([
    [1000, 'no such pet'],
    [1_100_000, undefined],
  ])("reads the service's message from an error body of about %i bytes: %s", async (length, message) => {
    const body = JSON.stringify({ code: 'x', message: 'no such pet', note: 'x'.repeat(length) });
    const { client } = await openClient([answer(404, body)]);
    const { serviceError } = await client.getPayload(operations.getPet, { petId: 1n }).catch((error) => error);
    expect(serviceError?.message).toBe(message);
  });

  const encodedBy = (encoding: string, status = 200) => answer(status, stock, { 'content-encoding': encoding });

  test.each([
    ['bytes that are not UTF-8', answer(200, Buffer.from([0x5b, 0xff, 0x5d])), 'is not UTF-8 text'],
    ['a 204 without a body', answer(204), 'The service returned 204 instead of 200'],
    ['a list with 202', answer(202, stock), 'The service returned 202 instead of 200'],
    ['a part of a list with 206', answer(206, stock), 'The service returned 206 instead of 200'],
    ['an unknown content encoding', encodedBy('zstd'), 'a content encoding that was not requested'],
    ['two content encodings', encodedBy('gzip, br'), 'that was not requested'],
    ['a 304', answer(304), 'The service returned 304'],
  ])('fails a list request at once on %s', async (_what, answerer, words) => {
    const { list, sentAt } = await openClient([answerer]);
    await expect(list()).rejects.toMatchObject({ name: 'FailureError', message: expect.stringContaining(words) });
    expect(sentAt()).toHaveLength(1);
  });

  const cutShort: Answerer = (response) => {
    response.writeHead(401, { 'content-length': 100 }).write('{"code":', () => response.socket?.destroy());
  };

  // A body that is used only for the error's message can't change its class.
  test.each([
    ['bytes that are not UTF-8', answer(401, Buffer.from([0xe9, 0xff]))],
    ['an unknown content encoding', encodedBy('zstd', 401)],
    ['a corrupt gzip', encodedBy('gzip', 401)],
    ['a body that is cut short', cutShort],
  ])('reports a 401 with %s as a 401, and does not retry it', async (_what, answerer) => {
    const { list, client, sentAt } = await openClient([answerer]);
    await expect(list()).rejects.toMatchObject({ name: 'AuthError' });
    await expect(client.probe()).rejects.toMatchObject({ name: 'AuthError' });
    expect(sentAt()).toHaveLength(2);
  });
});
