import { describe, expect, test } from 'vitest';
import { itemsOf } from '../../src/inventory/item-columns.ts';
import { OvertakenError } from '../../src/rate-limit/governor.ts';
import { type ErrorDetails, InterruptedError } from '../../src/shared/errors.ts';
import { openShop } from '../support/shop.ts';
import { createClientRig, openClient } from './client-rig.ts';
import { type Answerer, answer, hang, item, openServer, raw, reset, resetInBody, truncated, until } from './server.ts';

type Facts = Pick<ErrorDetails, 'status' | 'unsent' | 'mayStillArrive'>;

const onItsWay: Facts = { status: undefined, unsent: false, mayStillArrive: true };
const answered = (status?: number): Facts => ({ status, unsent: false, mayStillArrive: false });

/** What became of an update, as far as is certain. */
const outcomes: readonly (readonly [string, Answerer, Facts])[] = [
  ['a reset', reset, onItsWay],
  ['nothing but the end', raw(''), onItsWay],
  ['half a head', raw('HTTP/1.1 200 OK\r\nContent-Le'), onItsWay],
  ['an answer that is no HTTP', raw('SSH-2.0-OpenSSH_9.6\r\n'), onItsWay],
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
  ['another shape', answer(200, '{}'), answered()],
];

const permitOf = async ({ governor }: ReturnType<typeof createClientRig>) =>
  governor.admit(new AbortController().signal);

describe('an update without a permit is never sent again after an unknown outcome', () => {
  test.each(outcomes)('%s', async (_what, answerer, facts) => {
    const { server, client, clock } = await openClient([answerer, answer(200, item)]);
    await expect(client.updateInventory(7n, 3)).rejects.toMatchObject(facts);
    expect(server.requests).toHaveLength(1);
    expect(clock.sleeps).toEqual([]);
  });

  test('where it could not be sent it is tried again', async () => {
    const { client, sentAt } = createClientRig({ url: 'http://127.0.0.1:1/v1' });
    await expect(client.updateInventory(7n, 3)).rejects.toMatchObject({ unsent: true, mayStillArrive: false });
    expect(sentAt()).toHaveLength(5);
  });

  test('after a 429 too', async () => {
    const { client, sentAt } = await openClient([answer(429, '', { 'retry-after': '5' }), answer(200, item)], {
      random: 0,
    });
    expect(await client.updateInventory(7n, 3)).toMatchObject({ quantity: 3 });
    expect(sentAt()).toEqual([0, 5000]);
  });

  test('the request that stays on its way after a 429 is not certain', async () => {
    const { client } = await openClient([answer(429, '', { 'retry-after': '5' }), reset], { random: 0 });
    await expect(client.updateInventory(7n, 3)).rejects.toMatchObject(onItsWay);
  });

  test('a write whose answer was dropped is there once', async () => {
    const { service, clock } = await openShop({ faults: ['PATCH /inventory/*:first=1:commit-then-drop'] });
    const { client } = createClientRig({ url: service.url, key: service.key, clock });
    await expect(client.updateInventory(9007199254740993n, 5)).rejects.toMatchObject(onItsWay);
    expect(service.journal().map(({ method }) => method)).toEqual(['PATCH']);
  });

  test('nor is any request that changes something', async () => {
    const { server, client } = await openClient([reset, answer(200, item)]);
    await expect(client.request('PATCH', '/inventory/7', '{"quantity":3}')).rejects.toMatchObject(onItsWay);
    expect(server.requests).toHaveLength(1);
  });
});

describe('an update with a permit is one request', () => {
  test.each(outcomes)('%s', async (_what, answerer, facts) => {
    const server = await openServer(answerer, answer(200, item));
    const rig = createClientRig({ url: server.url });
    const permit = await permitOf(rig);
    await expect(rig.client.updateInventory(7n, 3, { permit })).rejects.toMatchObject(facts);
    expect(server.requests).toHaveLength(1);
    expect(rig.clock.sleeps).toEqual([]);
  });

  test.each<[string, string, object]>([
    ['connection', 'http://127.0.0.1:1/v1', { kind: 'unavailable', status: undefined }],
    ['name', 'https://service.invalid/v1', { kind: 'unavailable', status: undefined }],
  ])('no %s: for certain not carried out', async (_what, url, error) => {
    const rig = createClientRig({ url });
    const update = rig.client.updateInventory(7n, 3, { permit: await permitOf(rig) });
    await expect(update).rejects.toMatchObject({ ...error, unsent: true, mayStillArrive: false });
    expect(rig.sentAt()).toHaveLength(1);
  });

  test('429: for certain not carried out, and when it may be', async () => {
    const server = await openServer(answer(429, '', { 'retry-after': '5' }), answer(200, item));
    const rig = createClientRig({ url: server.url, random: 0 });
    const update = rig.client.updateInventory(7n, 3, { permit: await permitOf(rig) });
    await expect(update).rejects.toMatchObject({
      kind: 'rate-limited',
      status: 429,
      unsent: true,
      mayStillArrive: false,
      retryAfterSeconds: 5,
    });
    await rig.client.updateInventory(7n, 3);
    expect(rig.sentAt()).toEqual([0, 5000]);
  });

  test.each([301, 303, 307])('%i is not followed', async (status) => {
    const server = await openServer(answer(status, '', { location: '/v1/stock/7' }), answer(200, item));
    const rig = createClientRig({ url: server.url });
    const update = rig.client.updateInventory(7n, 3, { permit: await permitOf(rig) });
    await expect(update).rejects.toMatchObject({ kind: 'failure', status, unsent: false });
    expect(server.requests).toHaveLength(1);
  });

  test('a permit that holds no longer: nothing is sent', async () => {
    const server = await openServer(answer(200, item));
    const rig = createClientRig({ url: server.url });
    const permit = await permitOf(rig);
    rig.clock.advance(31_000);
    await expect(rig.client.updateInventory(7n, 3, { permit })).rejects.toBeInstanceOf(OvertakenError);
    expect(server.requests).toHaveLength(0);
  });

  test('time-out: it may still be on its way', async () => {
    const server = await openServer(hang);
    const rig = createClientRig({ url: server.url });
    const update = rig.client.updateInventory(7n, 3, { permit: await permitOf(rig) });
    const ended = expect(update).rejects.toMatchObject(onItsWay);
    await until(() => server.requests.length === 1);
    rig.clock.expireDeadlines();
    await ended;
  });

  test('an interruption of the client lets it finish', async () => {
    const interrupted = new AbortController();
    const server = await openServer(hang);
    const rig = createClientRig({ url: server.url, interrupted: interrupted.signal });
    const update = rig.client.updateInventory(7n, 3, { permit: await permitOf(rig) });
    const ended = expect(update).rejects.toMatchObject({ ...onItsWay, kind: 'unavailable' });
    await until(() => server.requests.length === 1);
    interrupted.abort(new InterruptedError('the client'));
    rig.clock.expireDeadlines();
    await ended;
  });
});

describe('a list with a permit', () => {
  test('uses it for the first try', async () => {
    const server = await openServer(answer(503), answer(200, `[${item}]`));
    const rig = createClientRig({ url: server.url });
    const permit = await permitOf(rig);
    let items = 0;
    for await (const batch of rig.client.scanInventory({ permit })) items += batch.length;
    expect(items).toBe(1);
    expect(server.requests).toHaveLength(2);
  });

  test('that holds no longer is admitted anew', async () => {
    const server = await openServer(answer(200, `[${item}]`));
    const rig = createClientRig({ url: server.url });
    const permit = await permitOf(rig);
    rig.clock.advance(31_000);
    for await (const batch of itemsOf(rig.client.scanInventory({ permit }))) expect(batch).toHaveLength(1);
    expect(server.requests).toHaveLength(1);
  });
});
