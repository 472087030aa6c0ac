import { describe, expect, test } from 'vitest';
import { FailureError } from '../../src/shared/errors.ts';
import { createClientRig, key, openClient } from './client-rig.ts';
import { answer, item, openServer, stock } from './server.ts';

const statuses = [301, 302, 303, 307, 308];
const redirect = (status: number, location: string | string[]) => answer(status, '<html>moved', { location });

describe('to the same origin', () => {
  test.each(statuses)('a GET follows %i', async (status) => {
    const { server, list, clock } = await openClient([redirect(status, '/v1/stock?page=1#top'), answer(200, stock)]);
    expect(await list()).toHaveLength(1);
    expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /v1/inventory',
      'GET /v1/stock?page=1',
    ]);
    expect(server.requests[1]?.headers.authorization).toBe(`Bearer ${key}`);
    expect(clock.sleeps).toEqual([]);
  });

  test.each([307, 308])('a PATCH follows %i, as a PATCH with its body', async (status) => {
    const server = await openServer(redirect(status, '/v1/stock/7'), answer(200, item));
    await createClientRig({ url: server.url }).client.updateInventory(7n, 3);
    expect(server.requests.map(({ method, path, body }) => `${method} ${path} ${body}`)).toEqual([
      'PATCH /v1/inventory/7 {"quantity":3}',
      'PATCH /v1/stock/7 {"quantity":3}',
    ]);
  });

  test.each([301, 302, 303])('a PATCH does not follow %i', async (status) => {
    const server = await openServer(redirect(status, '/v1/stock/7'), answer(200, item));
    const patch = createClientRig({ url: server.url }).client.updateInventory(7n, 3);
    await expect(patch).rejects.toThrow(`The service redirects a PATCH with ${status}, which can't be followed`);
    await expect(patch).rejects.toMatchObject({ kind: 'failure', status });
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    ['/elsewhere', '/elsewhere'],
    ['elsewhere', '/v1/elsewhere'],
    ['./inventory/', '/v1/inventory/'],
    ['../v2/inventory', '/v2/inventory'],
    ['?page=2', '/v1/inventory?page=2'],
    ['', '/v1/inventory'],
  ])('Location %j leads to %s', async (location, path) => {
    const server = await openServer(redirect(302, location), answer(200, stock));
    await createClientRig({ url: server.url }).list();
    expect(server.requests[1]?.path).toBe(path);
  });

  test('an absolute Location, with the name of a user in it', async () => {
    const server = await openServer(
      (response) => {
        redirect(302, `${server.origin.replace('//', '//user:secret@')}/v1/stock`)(response);
      },
      answer(200, stock),
    );
    await createClientRig({ url: server.url }).list();
    expect(server.requests[1]).toMatchObject({ path: '/v1/stock', headers: { authorization: `Bearer ${key}` } });
  });

  test('each one passes the governor', async () => {
    const spent = { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1768478460' };
    const { list, sentAt } = await openClient([
      answer(302, '', { location: '/v1/stock', ...spent }),
      answer(200, stock),
    ]);
    await list();
    const [first, second] = sentAt();
    expect(first).toBe(0);
    expect(second).toBeGreaterThanOrEqual(40_000);
    expect(second).toBeLessThan(40_100);
  });

  test('up to 5, and no more', async () => {
    const server = await openServer(redirect(302, '/v1/inventory'));
    await expect(createClientRig({ url: server.url }).list()).rejects.toThrow(
      `The service redirects in a circle, last to ${server.url}/inventory`,
    );
    expect(server.requests).toHaveLength(6);
  });
});

describe('to another origin: never followed, and the key is never sent there', () => {
  test.each(statuses)('%i of a GET', async (status) => {
    const other = await openServer(answer(200, stock));
    const server = await openServer(redirect(status, `${other.url}/inventory`));
    const list = createClientRig({ url: server.url }).list();
    await expect(list).rejects.toBeInstanceOf(FailureError);
    await expect(list).rejects.toThrow(`The service redirects to another address, ${other.origin}.`);
    expect(other.requests).toEqual([]);
    expect(other.connections.opened).toBe(0);
  });

  test.each(statuses)('%i of a PATCH', async (status) => {
    const other = await openServer(answer(200, item));
    const server = await openServer(redirect(status, `${other.url}/inventory/7`));
    await expect(createClientRig({ url: server.url }).client.updateInventory(7n, 3)).rejects.toThrow(FailureError);
    expect(other.connections.opened).toBe(0);
  });

  test('nor is it in the error, though it is the name of that origin', async () => {
    const { list } = await openClient([redirect(302, `https://${key}.example/v1`)]);
    await expect(list()).rejects.toThrow('The service redirects to another address, https://[key].example.');
  });

  test('nor after one to the same origin', async () => {
    const other = await openServer(answer(200, stock));
    const server = await openServer(redirect(302, '/v1/stock'), redirect(302, `${other.url}/inventory`));
    await expect(createClientRig({ url: server.url }).list()).rejects.toThrow(FailureError);
    expect(other.connections.opened).toBe(0);
  });

  test.each([
    ['without a scheme', (host: string) => `//${host}/v1/inventory`],
    ['with backslashes', (host: string) => `\\\\${host}\\v1\\inventory`],
    ['with one slash', (host: string) => `https:/${host}/v1/inventory`],
    ['by another name', (host: string) => `http://localhost:${host.split(':')[1]}/v1/inventory`],
    ['by another scheme', (host: string) => `https://${host}/v1/inventory`],
  ])('%s', async (_how, location) => {
    const other = await openServer(answer(200, stock));
    const server = await openServer(redirect(302, location(other.origin.slice('http://'.length))));
    await expect(createClientRig({ url: server.url }).list()).rejects.toThrow('redirects to another address');
    expect(other.connections.opened).toBe(0);
  });

  test.each(['file:///etc/passwd', 'javascript:alert(1)', 'data:application/json,[]', 'mailto:a@b'])(
    '%s',
    async (location) => {
      const server = await openServer(redirect(302, location));
      await expect(createClientRig({ url: server.url }).list()).rejects.toThrow('redirects to another address');
      expect(server.requests).toHaveLength(1);
    },
  );
});

test.each<[string, Record<string, string | string[]>]>([
  ['is missing', {}],
  ['is no URL', { location: 'http://[' }],
  ['came twice', { location: ['/a', '/b'] }],
])('a redirect whose Location %s', async (_what, headers) => {
  const server = await openServer(answer(302, '', headers));
  await expect(createClientRig({ url: server.url }).list()).rejects.toThrow(
    'The service answered 302 without a usable Location',
  );
  expect(server.requests).toHaveLength(1);
});
