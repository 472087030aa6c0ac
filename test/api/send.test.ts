import { describe, expect, test } from 'vitest';
import { RateLimitedError, UnavailableError } from '../../src/shared/errors.ts';
import { createClientRig, openClient } from './client-rig.ts';
import {
  type Answerer,
  answer,
  hang,
  openServer,
  raw,
  reset,
  resetInBody,
  stock,
  truncated,
  turns,
  until,
} from './server.ts';

const ok = answer(200, stock);
/** The jitter of the rig is a half. */
const backoff = [250, 500, 1000, 2000];
const errorBody = (status: number) => `{"code":"down","message":"Down for a moment.","status":${status}}`;

describe('what a gateway or the network does is tried again', () => {
  test.each<[string, Answerer]>([
    ['502', answer(502, '<html>')],
    ['503', answer(503, errorBody(503))],
    ['504', answer(504)],
    ['503 with a body that is cut short', raw('HTTP/1.1 503 Down\r\nContent-Length: 100\r\n\r\n{"co')],
    ['503 with a corrupt gzip', answer(503, 'x', { 'content-encoding': 'gzip' })],
    ['a reset before the answer', reset],
    ['a reset in the body', resetInBody],
    ['a body that is cut short', truncated],
    ['a chunked body that is cut short', raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n[{"pe')],
    ['a chunk that is none', raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n')],
    ['an answer that is no HTTP', raw('SSH-2.0-OpenSSH_9.6\r\n')],
    ['nothing but the end', raw('')],
    ['a corrupt gzip', answer(200, 'no gzip', { 'content-encoding': 'gzip' })],
  ])('%s', async (_what, answerer) => {
    const { list, sentAt, clock } = await openClient([answerer, answerer, ok]);
    expect(await list()).toHaveLength(1);
    expect(sentAt()).toEqual([0, 250, 750]);
    expect(clock.sleeps).toEqual([250, 500]);
  });

  test('nobody listens: 4 more tries, and then it is unavailable', async () => {
    const url = 'http://127.0.0.1:1/v1';
    const { list, clock, sentAt } = createClientRig({ url });
    const error = await list().catch((reason) => reason);
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error.message).toBe("Can't reach the service at http://127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1");
    expect(error.status).toBeUndefined();
    expect(clock.sleeps).toEqual(backoff);
    expect(sentAt()).toHaveLength(5);
  });

  test('a name that does not exist', async () => {
    const { list } = createClientRig({ url: 'https://service.invalid/v1' });
    await expect(list()).rejects.toThrow(/^Can't reach the service at https:\/\/service\.invalid: getaddrinfo E/);
  });

  test('503 for ever: 4 more tries, and then what the service says', async () => {
    const { server, list, clock } = await openClient([answer(503, errorBody(503))]);
    await expect(list()).rejects.toMatchObject({
      kind: 'unavailable',
      status: 503,
      message: 'Down for a moment. (503)',
      service: { code: 'down' },
    });
    expect(server.requests).toHaveLength(5);
    expect(clock.sleeps).toEqual(backoff);
  });

  test('tries of all kinds are counted together', async () => {
    const server = await openServer(reset, answer(502), resetInBody, answer(504), answer(503), ok);
    await expect(createClientRig({ url: server.url }).list()).rejects.toMatchObject({ status: 503 });
    expect(server.requests).toHaveLength(5);
  });

  test.each([0, 1])('%i times, if that is what was asked for', async (retries) => {
    const { list, sentAt } = await openClient([answer(503)], { retries });
    await expect(list()).rejects.toMatchObject({ status: 503 });
    expect(sentAt()).toHaveLength(retries + 1);
  });

  test('no try leaves earlier than its full jitter says, and none without jitter waits', async () => {
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
  ])('%s is tried again after %i ms', async (retryAfter, wait) => {
    const { list, sentAt } = await openClient([answer(503, '', { 'retry-after': retryAfter }), ok]);
    await list();
    // At the gate with a jitter of a tenth, at most 5 s.
    const jitter = wait === 250 ? 0 : Math.min(wait / 10, 5000) / 2;
    expect(sentAt()).toEqual([0, wait + jitter]);
  });

  test('holds up every other request of the client as well', async () => {
    const { client, list, sentAt } = await openClient([answer(503, '', { 'retry-after': '20' }), ok], { random: 0 });
    await Promise.allSettled([list().then(() => client.getPet(7n)), list()]);
    expect(Math.min(...sentAt().slice(2))).toBeGreaterThanOrEqual(20_000);
  });

  test('that is longer than the command may wait: the words of the service, and when it works again', async () => {
    const { list, clock } = await openClient([answer(503, errorBody(503), { 'retry-after': '20' }), ok], {
      random: 0,
      maxWait: 10_000,
    });
    await expect(list()).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'Down for a moment. (503)',
      status: 503,
      retryAfterSeconds: 20,
    });
    expect(clock.sleeps).toEqual([]);
  });

  test.each(['61', '9999999999'])('of %s s is told at once: no command waits that long', async (retryAfter) => {
    const { server, list, clock } = await openClient([answer(503, errorBody(503), { 'retry-after': retryAfter }), ok]);
    const error = await list().catch((reason) => reason);
    expect(error).toBeInstanceOf(UnavailableError);
    // More than 32 days are not believed.
    expect(error.retryAfterSeconds).toBe(Math.min(Number(retryAfter), 32 * 86_400));
    expect(clock.sleeps).toEqual([]);
    expect(server.requests).toHaveLength(1);
  });
});

describe('what is not tried again', () => {
  test.each([400, 401, 403, 404, 405, 408, 409, 410, 415, 422, 425, 499, 500, 501, 505])('%i', async (status) => {
    const { server, list, clock } = await openClient([answer(status, errorBody(status)), ok]);
    await expect(list()).rejects.toMatchObject({ status });
    expect(server.requests).toHaveLength(1);
    expect(clock.sleeps).toEqual([]);
  });

  test.each<[string, Answerer]>([
    ['a reset', reset],
    ['a reset in the body', resetInBody],
    ['502', answer(502)],
    ['503', answer(503, '', { 'retry-after': '1' })],
    ['504', answer(504)],
  ])('a POST after %s', async (_what, answerer) => {
    const { server, client, clock } = await openClient([answerer, answer(200, '{}')]);
    await expect(client.request('POST', '/inventory', '{}')).rejects.toBeInstanceOf(UnavailableError);
    expect(server.requests).toHaveLength(1);
    expect(clock.sleeps).toEqual([]);
  });

  test('a PATCH of something else than a stock', async () => {
    const { server, client } = await openClient([reset, answer(200, '{}')]);
    await expect(client.request('PATCH', '/store/orders', '{}')).rejects.toBeInstanceOf(UnavailableError);
    expect(server.requests).toHaveLength(1);
  });
});

describe('a 429', () => {
  test.each([
    ['with Retry-After', { 'retry-after': '20' }, 20_000],
    ['with a date', { 'retry-after': 'Thu, 15 Jan 2026 12:00:40 GMT' }, 20_000],
    ['without any header', {}, 60_000],
  ])('%s: nothing is sent before', async (_what, headers, wait) => {
    const { list, sentAt } = await openClient([answer(429, 'too many', headers), ok], { random: 0 });
    await list();
    expect(sentAt()).toEqual([0, wait]);
  });

  test('holds up every other request of the client as well', async () => {
    const { client, list, sentAt } = await openClient([answer(429, '', { 'retry-after': '20' }), answer(200, '{}')], {
      random: 0,
      maxWait: 600_000,
    });
    await Promise.allSettled([list().then(() => client.getPet(7n)), list()]);
    expect(Math.min(...sentAt().slice(2))).toBeGreaterThanOrEqual(20_000);
  });

  test('a POST is sent again: it was not carried out', async () => {
    const { server, client, sentAt } = await openClient([answer(429, '', { 'retry-after': '5' }), answer(200, '{}')], {
      random: 0,
    });
    const { status } = await client.request('POST', '/inventory', '{"a":1}');
    expect(status).toBe(200);
    expect(sentAt()).toEqual([0, 5000]);
    expect(server.requests.map(({ body }) => body)).toEqual(['{"a":1}', '{"a":1}']);
  });

  test('three in a row: the words of the service, and when it works again', async () => {
    const body = '{"code":"key_banned","message":"The key is banned.","status":429}';
    const { server, list } = await openClient([answer(429, body, { 'retry-after': '9' })], { random: 0 });
    const error = await list().catch((reason) => reason);
    expect(error).toBeInstanceOf(RateLimitedError);
    expect(error).toMatchObject({
      message: 'The key is banned.',
      status: 429,
      retryAfterSeconds: 9,
      service: { code: 'key_banned' },
    });
    expect(server.requests).toHaveLength(3);
  });

  test('with a body that never ends is over with the time-out, and the gate holds', async () => {
    const endless: Answerer = (response) => response.writeHead(429, { 'retry-after': '20' }).write('{"code":');
    const { server, list, clock, sentAt } = await openClient([endless, ok], { random: 0 });
    const items = list();
    await until(() => server.requests.length === 1);
    await turns(20);
    clock.expireDeadlines();
    await items;
    expect(sentAt()).toEqual([0, 20_000]);
  });

  test('does not use up the tries', async () => {
    const refusal = answer(429, '', { 'retry-after': '1' });
    const down = answer(503);
    const { list } = await openClient([down, down, refusal, down, down, ok]);
    expect(await list()).toHaveLength(1);
  });
});

test('a time-out on every try', async () => {
  const { server, list, clock } = await openClient([hang], {
    onSend: () => setImmediate(() => clock.expireDeadlines()),
  });
  const error = await list().catch((reason) => reason);
  expect(error).toBeInstanceOf(UnavailableError);
  expect(error.message).toBe(`Can't reach the service at ${server.origin}: no answer within 30 s`);
  expect(clock.sleeps).toEqual(backoff);
});
