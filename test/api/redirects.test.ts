import { describe, expect, test } from 'vitest';
import { key, openClient } from './client-rig.ts';
import { answer, item, openServer, stock } from './server.ts';

const statuses = [301, 302, 303, 307, 308];
const ok = answer(200, stock);
const redirect = (status: number, location: string | string[]) => answer(status, '<html>moved', { location });

describe('redirects to a URL below the base URL', () => {
  test.each([
    ...statuses.map((status) => [status, '/v1/stock?page=1#top', '/v1/stock?page=1'] as const),
    [302, 'elsewhere', '/v1/elsewhere'],
    [302, 'a..b/c%2Fd', '/v1/a..b/c%2Fd'],
    [302, '../v1/stock', '/v1/stock'],
    [302, '?page=2', '/v1/inventory?page=2'],
  ] as const)('follows a %i redirect of a GET with Location %j to %s', async (status, location, path) => {
    const { server, list, clock } = await openClient([redirect(status, location), ok]);
    expect(await list()).toHaveLength(1);
    const headers = { authorization: `Bearer ${key}` };
    expect(server.requests).toMatchObject([{ path: '/v1/inventory' }, { method: 'GET', path, headers }]);
    expect(clock.sleeps).toEqual([]);
  });

  test.each([307, 308])('follows a %i redirect of a PATCH with the same method and body', async (status) => {
    const { server, request } = await openClient([redirect(status, '/v1/stock/7'), answer(200, item)]);
    await request('PATCH', '/inventory/7', '{"quantity":3}');
    const sent = { method: 'PATCH', body: '{"quantity":3}' };
    expect(server.requests).toMatchObject([
      { ...sent, path: '/v1/inventory/7' },
      { ...sent, path: '/v1/stock/7' },
    ]);
  });

  test.each([301, 302, 303])('does not follow a %i redirect of a PATCH', async (status) => {
    const { server, request } = await openClient([redirect(status, '/v1/stock/7'), answer(200, item)]);
    const message = expect.stringContaining(
      `The service redirected a PATCH with status ${status}. petstock does not follow such a redirect`,
    );
    const update = request('PATCH', '/inventory/7', '{"quantity":3}');
    await expect(update).rejects.toMatchObject({ kind: 'failure', status, message });
    expect(server.requests).toHaveLength(1);
  });

  test("follows an absolute Location with a user name in it, and still sends the client's key", async () => {
    const { server, list } = await openClient([
      (response) => redirect(302, `${server.origin.replace('//', '//user:secret@')}/v1/stock`)(response),
      ok,
    ]);
    await list();
    expect(server.requests[1]).toMatchObject({ path: '/v1/stock', headers: { authorization: `Bearer ${key}` } });
  });

  test('waits for a permit before it follows a redirect', async () => {
    const spent = { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1768478460' };
    const { list, sentAt } = await openClient([answer(302, '', { location: '/v1/stock', ...spent }), ok]);
    await list();
    const [first, second] = sentAt();
    expect(first).toBe(0);
    expect(second).toBeGreaterThanOrEqual(40_000);
    expect(second).toBeLessThan(40_100);
  });

  test('follows at most 5 redirects', async () => {
    const { server, list } = await openClient([redirect(302, '/v1/inventory')]);
    await expect(list()).rejects.toThrow(`The service redirected more than 5 times, last to ${server.url}/inventory`);
    expect(server.requests).toHaveLength(6);
  });
});

describe('redirects to anywhere else', () => {
  test.each([
    ['scheme', (own: string) => own.replace('http:', 'https:')],
    ['host', (own: string) => own.replace('127.0.0.1', 'localhost')],
    ['port', (own: string) => own.replace(/:(\d+)\//, (_whole, port) => `:${(Number(port) % 65535) + 1}/`)],
  ])('does not follow a redirect to a URL that differs only in its %s', async (_part, change) => {
    const { server, list } = await openClient([
      (response) => redirect(307, change(`${server.url}/inventory`))(response),
      ok,
    ]);
    await expect(list()).rejects.toThrow(
      `another address, ${new URL(change(`${server.url}/`)).origin}. The redirect was not`,
    );
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    '/',
    '/v1',
    '/v10/inventory',
    '/V1/inventory',
    '/other/v1/inventory',
    '/v1/../other',
    '/v1/%2e%2E/other',
    '/v1/..%2fother',
    '/v1/..%5Cother',
    '/v1/a%2F%2e%2e%2F../other',
    '/v1/%',
    '..',
  ])('does not follow a redirect to %s outside the base URL, even after another redirect', async (location) => {
    for (const answers of [[redirect(307, location)], [redirect(302, '/v1/stock'), redirect(307, location)]]) {
      const { server, list } = await openClient(answers);
      await expect(list()).rejects.toThrow(
        `The service redirects to a URL outside ${server.url}. The redirect was not followed`,
      );
      expect(server.requests).toHaveLength(answers.length);
    }
  });

  test.each(statuses)('does not follow a %i redirect to another origin, or connect to it', async (status) => {
    const other = await openServer(ok);
    const { list, update } = await openClient([redirect(status, `${other.url}/inventory`)]);
    const message = expect.stringContaining(`The service redirects to another address, ${other.origin}.`);
    await expect(list()).rejects.toMatchObject({ name: 'FailureError', message });
    await expect(update(3)).rejects.toMatchObject({ name: 'FailureError' });
    expect(other.connections.opened).toBe(0);
  });

  test('redacts a key in the name of another origin', async () => {
    const { list } = await openClient([redirect(302, `https://${key}.example/v1`)]);
    await expect(list()).rejects.toThrow('The service redirects to another address, https://[key].example.');
  });

  test.each([
    '//<host>/v1/inventory',
    '\\\\<host>\\v1\\inventory',
    'https:/<host>/v1/inventory',
    'http://localhost:<port>/v1/inventory',
    'https://<host>/v1/inventory',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:application/json,[]',
    'mailto:a@b',
  ])('does not follow a redirect to %s, even after another redirect', async (location) => {
    const other = await openServer(ok);
    const { host, port } = new URL(other.origin);
    const elsewhere = redirect(302, location.replace('<host>', host).replace('<port>', port));
    for (const answers of [[elsewhere], [redirect(302, '/v1/stock'), elsewhere]]) {
      const { server, list } = await openClient(answers);
      await expect(list()).rejects.toThrow('redirects to another address');
      expect(server.requests).toHaveLength(answers.length);
    }
    expect(other.connections.opened).toBe(0);
  });
});

test.each<[string, Record<string, string | string[]>]>([
  ['is missing', {}],
  ['is not a URL', { location: 'http://[' }],
  ['came twice', { location: ['/a', '/b'] }],
])('fails without a retry if the Location of a redirect %s', async (_what, headers) => {
  const { server, list } = await openClient([answer(302, '', headers)]);
  await expect(list()).rejects.toThrow('The service returned a redirect (302) without a valid address');
  expect(server.requests).toHaveLength(1);
});

test('truncates an overlong Location in the error', async () => {
  const words = 'x'.repeat(30_000);
  const { list } = await openClient([redirect(302, `https://${words}.example/v1`)]);
  const toOther = /^The service redirects to another address, https:\/\/x{92}…\. The redirect was not/;
  await expect(list()).rejects.toThrow(toOther);
  const { update } = await openClient([redirect(307, `/v1/${words}`)]);
  const updating = update(3);
  const ofUpdate = /^The service redirects a PATCH to http:\/\/127.0.0.1:\d+\/v1\/x+…\. petstock did not follow/;
  await expect(updating).rejects.toThrow(ofUpdate);
});
