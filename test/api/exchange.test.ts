import { createServer } from 'node:net';
import { promisify } from 'node:util';
import { brotliCompress, deflate, gzip } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { portOf } from '../support/answering.ts';
import { createClientRig, openClient } from './client-rig.ts';
import { type Answerer, answer, hang, hangInBody, openServer, stock, turns, until } from './server.ts';

describe('content encodings', () => {
  test.each([
    ['gzip', gzip],
    ['GZip', gzip],
    ['x-gzip', gzip],
    ['deflate', deflate],
    ['br', brotliCompress],
  ])('%s', async (encoding, compress) => {
    const body = await promisify<string, Buffer>(compress)(stock);
    const server = await openServer(answer(200, body, { 'content-encoding': encoding }));
    expect(await createClientRig({ url: server.url }).list()).toHaveLength(1);
  });
});

describe('the time-out', () => {
  const trickle: Answerer = (response) => {
    response.writeHead(200);
    const drip = () => {
      if (!response.destroyed) response.write(' ', () => setImmediate(drip));
    };
    drip();
  };

  test.each<[string, Answerer]>([
    ['no answer', hang],
    ['a body that stops', hangInBody],
    ['a body that trickles for ever', trickle],
    [
      'a gzip that stops',
      (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).write(Buffer.from('1f8b', 'hex')),
    ],
  ])('%s: the next try has its answer', async (_what, answerer) => {
    const { server, list, clock, sentAt } = await openClient([answerer, answer(200, stock)]);
    const items = list();
    await until(() => server.requests.length === 1);
    await turns(20);
    clock.expireDeadlines();
    expect(await items).toHaveLength(1);
    expect(sentAt()).toEqual([0, 250]);
    // What was given up is not read on.
    await until(() => server.connections.open === 1);
  });

  test('while it is still connecting', async () => {
    const silent = await openSilentServer();
    const { list, clock } = createClientRig({ url: silent.url });
    const items = list().catch((reason) => reason);
    for (let tries = 1; tries <= 5; tries += 1) {
      await until(() => silent.opened() === tries);
      clock.expireDeadlines();
    }
    expect((await items).message).toMatch(/no answer within 30 s$/);
    await until(() => silent.open() === 0);
  });
});

describe('an interruption rejects with its reason', () => {
  const reason = new Error('Ctrl-C');

  test('before anything is sent', async () => {
    const { server, list } = await openClient([answer(200, stock)], { interrupted: AbortSignal.abort(reason) });
    await expect(list()).rejects.toBe(reason);
    expect(server.connections.opened).toBe(0);
  });

  test('while it is still connecting', async () => {
    const silent = await openSilentServer();
    const controller = new AbortController();
    const items = createClientRig({ url: silent.url, interrupted: controller.signal }).list();
    const settled = items.catch((error) => error);
    await until(() => silent.opened() === 1);
    controller.abort(reason);
    expect(await settled).toBe(reason);
    await until(() => silent.open() === 0);
    expect(silent.opened()).toBe(1);
  });

  test('between the transport and the network', async () => {
    const silent = await openSilentServer();
    const controller = new AbortController();
    const { list } = createClientRig({
      url: silent.url,
      interrupted: controller.signal,
      onSend: () => controller.abort(reason),
    });
    await expect(list()).rejects.toBe(reason);
    await turns(20);
    expect(silent.opened()).toBe(0);
  });

  test.each<[string, Answerer]>([
    ['during a request', hang],
    ['in a body', hangInBody],
    ['in the body of a 401', (response) => response.writeHead(401).write('{"code"')],
    ['in the body of a 429', (response) => response.writeHead(429).write('{"code"')],
    ['in the body of a 503', (response) => response.writeHead(503).write('{"code"')],
    [
      'in a gzip',
      (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).write(Buffer.from('1f8b', 'hex')),
    ],
  ])('%s', async (_what, answerer) => {
    const server = await openServer(answerer);
    const controller = new AbortController();
    const { list, clock } = createClientRig({ url: server.url, interrupted: controller.signal });
    const settled = list().catch((error) => error);
    await until(() => server.requests.length === 1);
    await turns(20);
    controller.abort(reason);
    expect(await settled).toBe(reason);
    expect(clock.sleeps).toEqual([]);
    await until(() => server.connections.open === 0);
    expect(server.requests).toHaveLength(1);
  });

  test.each<[string, Answerer]>([
    ['in the wait before a retry', answer(503)],
    ['in the wait behind a gate', answer(429, '', { 'retry-after': '20' })],
  ])('%s', async (_what, answerer) => {
    const server = await openServer(answerer);
    const controller = new AbortController();
    const { list } = createClientRig({
      url: server.url,
      interrupted: controller.signal,
      onSleep: () => controller.abort(reason),
    });
    await expect(list()).rejects.toBe(reason);
    expect(server.requests).toHaveLength(1);
  });
});

/** Takes a connection and says nothing, so that the TLS handshake of the client hangs. */
async function openSilentServer(): Promise<{ url: string; opened(): number; open(): number }> {
  let opened = 0;
  let open = 0;
  const server = createServer((socket) => {
    opened += 1;
    open += 1;
    socket.on('error', () => {});
    socket.on('close', () => {
      open -= 1;
    });
    socket.resume();
  });
  return { url: `https://127.0.0.1:${await portOf(server)}/v1`, opened: () => opened, open: () => open };
}
