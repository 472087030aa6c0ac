import { describe, expect, test } from 'vitest';
import { type ErrorDetails, InterruptedError } from '../../src/shared/errors.ts';
import { createClientRig, openClient } from './client-rig.ts';
import { type Answerer, answer, hang, item, raw, reset, resetInBody, truncated, until } from './server.ts';

type Facts = Pick<ErrorDetails, 'status' | 'notCarriedOut' | 'mayBeInFlight'>;

const onItsWay: Facts = { status: undefined, notCarriedOut: false, mayBeInFlight: true };
const answered = (status?: number): Facts => ({ status, notCarriedOut: false, mayBeInFlight: false });
const refusal = answer(429, '', { 'retry-after': '5' });
const ok = answer(200, item);

test.each<[string, Answerer, Facts]>([
  ['a reset', reset, onItsWay],
  ['a connection that ends without a response', raw(''), onItsWay],
  ['half a response head', raw('HTTP/1.1 200 OK\r\nContent-Le'), onItsWay],
  ['a response that is not HTTP', raw('SSH-2.0-OpenSSH_9.6\r\n'), onItsWay],
  ['502', answer(502), { ...onItsWay, status: 502 }],
  ['504', answer(504, '', { 'retry-after': '5' }), { ...onItsWay, status: 504 }],
  ['408', answer(408), { ...onItsWay, status: 408 }],
  ['500', answer(500), answered(500)],
  ['503', answer(503), answered(503)],
  ['503 with Retry-After', answer(503, '', { 'retry-after': '5' }), answered(503)],
  ['400', answer(400), answered(400)],
  ['401', answer(401), answered(401)],
  ['404', answer(404), answered(404)],
  ['202', answer(202, item), { ...onItsWay, status: 202 }],
  ['204', answer(204), answered(204)],
  ['206', answer(206, item), answered(206)],
  ['a reset in the body', resetInBody, answered()],
  ['a body that is cut short', truncated, answered()],
  ['HTML', answer(200, '<html>'), answered()],
  ['JSON of another shape', answer(200, '{}'), answered()],
])('sends an update once, and reports whether it may be in flight after %s', async (_what, answerer, facts) => {
  const { server, update, clock } = await openClient([answerer, ok]);
  await expect(update(3)).rejects.toMatchObject(facts);
  expect(server.requests).toHaveLength(1);
  expect(clock.sleeps).toEqual([]);
});

test('reports a response as unreadable if it begins with an unrequested 100 Continue', async () => {
  const early = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n';
  const { server, update } = await openClient([raw(`${early}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}`), ok]);
  const { origin } = new URL(server.url);
  await expect(update(3)).rejects.toMatchObject({
    ...onItsWay,
    message: `The response header of the service at ${origin} can't be read: the response began with a "100 Continue" that was not requested`,
  });
});

test('does not resend a raw PATCH after a reset', async () => {
  const { server, request } = await openClient([reset, ok]);
  await expect(request('PATCH', '/inventory/7', '{"quantity":3}')).rejects.toMatchObject(onItsWay);
  expect(server.requests).toHaveLength(1);
});

describe('an update', () => {
  test.each([
    ['connection', 'http://127.0.0.1:1/v1'],
    ['such host', 'https://service.invalid/v1'],
  ])('reports that an update was not carried out if there is no %s', async (_what, url) => {
    const { sentAt, update } = createClientRig({ url });
    const facts = { kind: 'unavailable', status: undefined, notCarriedOut: true, mayBeInFlight: false };
    await expect(update(3)).rejects.toMatchObject(facts);
    expect(sentAt()).toHaveLength(1);
  });

  test('reports that an update was not carried out after a 429, and sends a later one', async () => {
    const { sentAt, update } = await openClient([refusal, ok], { random: 0 });
    await expect(update(3)).rejects.toMatchObject({
      kind: 'rate-limited',
      status: 429,
      notCarriedOut: true,
      mayBeInFlight: false,
      retryAfterSeconds: 5,
    });
    await update(3);
    expect(sentAt()).toEqual([0, 5000]);
  });

  test.each([301, 303, 307])('does not follow a %i redirect of an update', async (status) => {
    const { server, update } = await openClient([answer(status, '', { location: '/v1/stock/7' }), ok]);
    const updating = update(3);
    await expect(updating).rejects.toMatchObject({ kind: 'failure', status, notCarriedOut: false });
    expect(server.requests).toHaveLength(1);
  });

  test('does not send an update whose permit has expired', async () => {
    const { server, client, permit, clock } = await openClient([ok]);
    const old = await permit();
    clock.advance(31_000);
    await expect(client.updateInventory(7n, 3, { permit: old })).rejects.toMatchObject({ name: 'PermitExpiredError' });
    expect(server.requests).toHaveLength(0);
  });

  test.each([false, true])(
    'reports that an update may be in flight after a time-out (interrupted: %s)',
    async (isInterrupted) => {
      const interrupted = new AbortController();
      const { server, clock, update } = await openClient([hang], { interrupted: interrupted.signal });
      const updating = update(3);
      const ended = expect(updating).rejects.toMatchObject({ ...onItsWay, kind: 'unavailable' });
      await until(() => server.requests.length === 1);
      if (isInterrupted) interrupted.abort(new InterruptedError('the client lets it finish'));
      clock.expireDeadlines();
      await ended;
    },
  );
});

test.each([
  ['a fresh permit', 0],
  ['an expired permit', 31_000],
])('retries the request for the list after a 503 if the caller gave %s', async (_what, ms) => {
  const { server, client, permit, clock } = await openClient([answer(503), answer(200, `[${item}]`)]);
  const given = await permit();
  clock.advance(ms);
  let items = 0;
  for await (const batch of client.scanInventory({ permit: given })) items += batch.length;
  expect(items).toBe(1);
  expect(server.requests).toHaveLength(2);
});
