import { describe, expect, test } from 'vitest';
import { operations } from '../../src/api/specification.ts';
import { createClientRig, openClient } from './client-rig.ts';
import { type Answerer, answer, hang, raw, reset, resetInBody, stock, truncated, turns, until } from './server.ts';

const ok = answer(200, stock);
/** The waits between attempts in milliseconds: half of each maximum, because the rig's `random` is 0.5. */
const backoff = [250, 500, 1000, 2000, 4000, 4000];
const errorBody = (status: number) => `{"code":"down","message":"Down for a moment.","status":${status}}`;
const down = {
  name: 'UnavailableError',
  status: 503,
  message: 'The service returned 503',
  serviceError: { code: 'down', message: 'Down for a moment.' },
};

describe('failures of a gateway or the network', () => {
  test.each<[string, Answerer]>([
    ['500', answer(500, errorBody(500))],
    ['502', answer(502, '<html>')],
    ['503', answer(503, errorBody(503))],
    ['504', answer(504)],
    ['503 with a body that is cut short', raw('HTTP/1.1 503 Down\r\nContent-Length: 100\r\n\r\n{"co')],
    ['503 with a corrupt gzip', answer(503, 'x', { 'content-encoding': 'gzip' })],
    ['a reset before the response', reset],
    ['a reset in the body', resetInBody],
    ['a body that is cut short', truncated],
    ['a chunked body that is cut short', raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n[{"pe')],
    ['an invalid chunk', raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n')],
    ['a response that is not HTTP', raw('SSH-2.0-OpenSSH_9.6\r\n')],
    ['a connection that ends without a response', raw('')],
    ['a corrupt gzip', answer(200, 'no gzip', { 'content-encoding': 'gzip' })],
  ])('retries a GET after %s', async (_what, answerer) => {
    const { list, sentAt, clock } = await openClient([answerer, answerer, ok]);
    expect(await list()).toHaveLength(1);
    expect(sentAt()).toEqual([0, 250, 750]);
    expect(clock.sleeps).toEqual([250, 500]);
  });

  test.each([
    ['http://127.0.0.1:1', 'connect ECONNREFUSED 127.0.0.1:1'],
    ['https://service.invalid', 'getaddrinfo E'],
  ])("gives up after 4 retries if it can't connect to %s", async (origin, cause) => {
    const { list, clock, sentAt } = createClientRig({ url: `${origin}/v1` });
    const message = expect.stringContaining(`Can't reach the service at ${origin}: ${cause}`);
    await expect(list()).rejects.toMatchObject({ name: 'UnavailableError', message, status: undefined });
    expect(clock.sleeps).toEqual(backoff.slice(0, 4));
    expect(sentAt()).toHaveLength(5);
  });

  test('gives up after 4 retries that time out', async () => {
    const { server, list, clock } = await openClient([hang], {
      onSend: () => setImmediate(() => clock.expireDeadlines()),
    });
    const message = `Can't reach the service at ${server.origin}: no response within 30 s`;
    await expect(list()).rejects.toMatchObject({ name: 'UnavailableError', message });
    expect(clock.sleeps).toEqual(backoff.slice(0, 4));
  });

  test.each<[string, number, Answerer[], number | undefined]>([
    ['503 for ever', 4, [], undefined],
    ['failures of all kinds', 4, [reset, answer(502), resetInBody, answer(504)], undefined],
    ['retries: 0', 0, [], 0],
    ['retries: 1', 1, [], 1],
    ['retries: 6', 6, [], 6],
  ])("gives up with the service's message (%s) after %i retries", async (_what, tries, before, retries) => {
    const { server, list, clock } = await openClient([...before, answer(503, errorBody(503))], { retries });
    await expect(list()).rejects.toMatchObject(down);
    expect(server.requests).toHaveLength(tries + 1);
    expect(clock.sleeps).toEqual(backoff.slice(0, tries));
  });

  test('retries at once if the jitter is 0', async () => {
    const { list, sentAt } = await openClient([answer(503), ok], { random: 0 });
    await list();
    expect(sentAt()).toEqual([0, 0]);
  });
});

describe('a 503 with Retry-After', () => {
  test.each<[string, number]>([
    ['7', 7000],
    ['0', 250],
    ['soon', 60_000],
    ['Thu, 15 Jan 2026 12:00:27 GMT', 7000],
  ])('delays the retry of a 503 with Retry-After: %s by %i ms', async (retryAfter, wait) => {
    const { list, sentAt } = await openClient([answer(503, '', { 'retry-after': retryAfter }), ok]);
    await list();
    // The jitter is half of its maximum, which is a tenth of the wait but at most 5 s.
    const jitter = wait === 250 ? 0 : Math.min(wait / 10, 5000) / 2;
    expect(sentAt()).toEqual([0, wait + jitter]);
  });

  test.each([
    ['20', 10_000, 20],
    ['91', 90_000, 91],
    // A wait is at most 32 days, whatever the service asks for.
    ['9999999999', 90_000, 32 * 86_400],
  ])('fails at once on a 503 with Retry-After: %s (maxWait: %i)', async (retryAfter, maxWait, retryAfterSeconds) => {
    const refusal = answer(503, errorBody(503), { 'retry-after': retryAfter });
    const { server, list, clock } = await openClient([refusal, ok], { maxWait, random: 0 });
    await expect(list()).rejects.toMatchObject({ ...down, retryAfterSeconds });
    expect(clock.sleeps).toEqual([]);
    expect(server.requests).toHaveLength(1);
  });
});

test.each([429, 503])('delays every request of the client after a %i with Retry-After', async (status) => {
  const answers = [answer(status, '', { 'retry-after': '20' }), ok];
  const { client, list, sentAt } = await openClient(answers, { random: 0, maxWait: 600_000 });
  await Promise.allSettled([list().then(() => client.getPayload(operations.getPet, { petId: 7n })), list()]);
  expect(sentAt().length).toBeGreaterThan(2);
  expect(Math.min(...sentAt().slice(2))).toBeGreaterThanOrEqual(20_000);
});

describe('failures that are not retried', () => {
  test.each([400, 401, 403, 404, 405, 408, 409, 410, 415, 422, 425, 499, 501, 505])(
    'does not retry a GET after a %i',
    async (status) => {
      const { server, list, clock } = await openClient([answer(status, errorBody(status)), ok]);
      await expect(list()).rejects.toMatchObject({ status });
      expect(server.requests).toHaveLength(1);
      expect(clock.sleeps).toEqual([]);
    },
  );

  test('does not retry a PATCH after a 500', async () => {
    const { server, clock, update } = await openClient([answer(500, errorBody(500)), ok]);
    await expect(update(3)).rejects.toMatchObject({ name: 'UnavailableError', status: 500 });
    expect([server.requests.length, clock.sleeps]).toEqual([1, []]);
  });

  test('passes the last response of a raw GET on, after the retries', async () => {
    const { server, request } = await openClient([answer(500, errorBody(500))], { retries: 2 });
    expect(await request('GET', '/x')).toMatchObject({ status: 500, failure: { status: 500 } });
    expect(server.requests).toHaveLength(3);
  });

  test.each<[string, string, string, Answerer]>([
    ['POST', '/inventory', 'a reset', reset],
    ['POST', '/inventory', 'a reset in the body', resetInBody],
    ['PATCH', '/store/orders', 'a reset', reset],
  ])('does not retry %s %s after %s', async (method, path, _what, answerer) => {
    const { server, clock, request } = await openClient([answerer, answer(200, '{}')]);
    await expect(request(method, path, '{}')).rejects.toMatchObject({ name: 'UnavailableError' });
    expect(server.requests).toHaveLength(1);
    expect(clock.sleeps).toEqual([]);
  });

  test.each([
    ['POST', 500],
    ['POST', 502],
    ['POST', 503],
    ['POST', 504],
    ['PATCH', 503],
  ])('does not retry a raw %s after a %i, and passes it on', async (method, status) => {
    const { server, clock, request } = await openClient([
      answer(status, '', { 'retry-after': '1' }),
      answer(200, '{}'),
    ]);
    expect(await request(method, '/store/orders', '{}')).toMatchObject({ status, failure: { status } });
    expect([server.requests.length, clock.sleeps]).toEqual([1, []]);
  });
});

describe('a 429 response', () => {
  test.each([
    ['with Retry-After', { 'retry-after': '20' }, 20_000],
    ['with a date', { 'retry-after': 'Thu, 15 Jan 2026 12:00:40 GMT' }, 20_000],
    ['without any header', {}, 60_000],
  ])('delays the next request after a 429 %s', async (_what, headers, wait) => {
    const { list, sentAt } = await openClient([answer(429, 'too many', headers), ok], { random: 0 });
    await list();
    expect(sentAt()).toEqual([0, wait]);
  });

  test('resends a POST after a 429', async () => {
    const refusal = answer(429, '', { 'retry-after': '5' });
    const { server, sentAt, request } = await openClient([refusal, answer(200, '{}')], { random: 0 });
    expect((await request('POST', '/inventory', '{"a":1}')).status).toBe(200);
    expect(sentAt()).toEqual([0, 5000]);
    expect(server.requests.map(({ body }) => body)).toEqual(['{"a":1}', '{"a":1}']);
  });

  test("fails at the third 429 in a row, with the service's message and the time to wait", async () => {
    const body = '{"code":"key_banned","message":"The key is banned.","status":429}';
    const { server, list } = await openClient([answer(429, body, { 'retry-after': '9' })], { random: 0 });
    await expect(list()).rejects.toMatchObject({
      name: 'RateLimitedError',
      message: 'The service returned 429',
      status: 429,
      retryAfterSeconds: 9,
      serviceError: { code: 'key_banned', message: 'The key is banned.' },
    });
    expect(server.requests).toHaveLength(3);
  });

  test('waits for the Retry-After of a 429 even if its body never ends', async () => {
    const endless: Answerer = (response) => response.writeHead(429, { 'retry-after': '20' }).write('{"code":');
    const { server, list, clock, sentAt } = await openClient([endless, ok], { random: 0 });
    const items = list();
    await until(() => server.requests.length === 1);
    await turns(20);
    clock.expireDeadlines();
    await items;
    expect(sentAt()).toEqual([0, 20_000]);
  });

  test('does not count a 429 as a retry', async () => {
    const [refusal, failure] = [answer(429, '', { 'retry-after': '1' }), answer(503)];
    const { list } = await openClient([failure, failure, refusal, failure, failure, ok]);
    expect(await list()).toHaveLength(1);
  });
});
