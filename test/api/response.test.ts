import { createServer as createHttpsServer } from 'node:https';
import { createRequire } from 'node:module';
import { createServer, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { brotliCompress, deflate, gzip } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { createUndiciTransport } from '../../src/api/undici.ts';
import { portOf } from '../support/servers.ts';
import { pem } from '../support/tls.ts';
import { createClientRig, openClient } from './client-rig.ts';
import { type Answerer, answer, hang, hangInBody, stock, turns, until } from './server.ts';

const undiciTimers = createRequire(import.meta.url)('undici/lib/util/timers.js');

test.each([
  ['gzip', gzip],
  ['GZip', gzip],
  ['x-gzip', gzip],
  ['deflate', deflate],
  ['br', brotliCompress],
])('decodes the content encoding %s', async (encoding, compress) => {
  const body = await promisify<string, Buffer>(compress)(stock);
  const { list } = await openClient([answer(200, body, { 'content-encoding': encoding })]);
  expect(await list()).toHaveLength(1);
});

const hangInGzip: Answerer = (response) => {
  response.writeHead(200, { 'content-encoding': 'gzip' }).write(Buffer.from('1f8b', 'hex'));
};
const hangInBodyOf =
  (status: number): Answerer =>
  (response) => {
    response.writeHead(status).write('{"code"');
  };

describe('the time-out of a request', () => {
  const trickle: Answerer = (response) => {
    response.writeHead(200);
    const drip = () => {
      if (!response.destroyed) response.write(' ', () => setImmediate(drip));
    };
    drip();
  };

  test.each<[string, Answerer]>([
    ['no response', hang],
    ['a body that stops', hangInBody],
    ['a body that trickles for ever', trickle],
    ['a gzip that stops', hangInGzip],
  ])('times out and retries a request after %s', async (_what, answerer) => {
    const { server, list, clock, sentAt } = await openClient([answerer, answer(200, stock)]);
    const items = list();
    await until(() => server.requests.length === 1);
    await turns(20);
    clock.expireDeadlines();
    expect(await items).toHaveLength(1);
    expect(sentAt()).toEqual([0, 250]);
    // The connection of the abandoned body is closed.
    await until(() => server.connections.open === 1);
  });

  test('times out a request that is still connecting, and leaves no socket open', async () => {
    const { url, silent } = await openSilentServer();
    const { list, clock } = createClientRig({ url });
    const items = list().catch((reason) => reason);
    for (let tries = 1; tries <= 5; tries += 1) {
      await until(() => silent.opened === tries);
      clock.expireDeadlines();
    }
    expect((await items).message).toMatch(/no response within 30 s$/);
    await until(() => silent.open === 0);
  });
});

describe('an interruption of a request', () => {
  const reason = new Error('Ctrl-C');

  test("rejects a request with the signal's reason if it is aborted before anything is sent", async () => {
    const { server, list } = await openClient([answer(200, stock)], { interrupted: AbortSignal.abort(reason) });
    await expect(list()).rejects.toBe(reason);
    expect(server.connections.opened).toBe(0);
  });

  test("rejects a connecting request with the signal's reason, and leaves no socket open", async () => {
    const { url, silent } = await openSilentServer();
    const controller = new AbortController();
    const settled = createClientRig({ url, interrupted: controller.signal })
      .list()
      .catch((error) => error);
    await until(() => silent.opened === 1);
    controller.abort(reason);
    expect(await settled).toBe(reason);
    await until(() => silent.open === 0);
    expect(silent.opened).toBe(1);
  });

  test("rejects a request with the signal's reason if it is aborted right before connecting", async () => {
    const { url, silent } = await openSilentServer();
    const controller = new AbortController();
    const onSend = () => controller.abort(reason);
    await expect(createClientRig({ url, interrupted: controller.signal, onSend }).list()).rejects.toBe(reason);
    await turns(20);
    expect(silent.opened).toBe(0);
  });

  test.each<[string, Answerer]>([
    ['during a request', hang],
    ['in a body', hangInBody],
    ['in the body of a 401', hangInBodyOf(401)],
    ['in the body of a 429', hangInBodyOf(429)],
    ['in the body of a 503', hangInBodyOf(503)],
    ['in a gzip', hangInGzip],
  ])("rejects a request with the signal's reason if it is aborted %s", async (_what, answerer) => {
    const controller = new AbortController();
    const { server, list, clock } = await openClient([answerer], { interrupted: controller.signal });
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
    ['while a gate is closed', answer(429, '', { 'retry-after': '20' })],
  ])("rejects a request with the signal's reason if it is aborted %s", async (_what, answerer) => {
    const controller = new AbortController();
    const onSleep = () => controller.abort(reason);
    const { server, list } = await openClient([answerer], { interrupted: controller.signal, onSleep });
    await expect(list()).rejects.toBe(reason);
    expect(server.requests).toHaveLength(1);
  });
});

test.each([true, false])(
  'leaves no socket open if a request is aborted while it reconnects (connection begun: %s)',
  async (isBegun) => {
    const seen = { requests: 0 };
    const service = createHttpsServer({ cert: pem('server'), key: pem('server-key') }, (_request, response) => {
      seen.requests += 1;
      if (seen.requests === 1) response.end('{}');
    });
    const { url, silent } = await openSilentServer((first) => service.emit('connection', first));
    const transport = createUndiciTransport({ ca: [pem('authority')] });
    const send = (signal: AbortSignal) => transport({ method: 'GET', url, headers: {}, signal });
    const [first, second] = [new AbortController(), new AbortController()];
    for await (const _chunk of (await send(first.signal)).body);
    const hanging = send(first.signal);
    await until(() => seen.requests === 2);
    first.abort(new Error('no answer'));
    await expect(hanging).rejects.toThrow('no answer');
    const next = send(second.signal).catch(({ message }) => message);
    if (isBegun) await until(() => silent.opened === 1);
    second.abort(new Error('given up'));
    expect(await next).toBe('given up');
    await turns(100);
    await until(() => silent.open === 0);
  },
);

test('keeps the second of two requests connecting if the first is aborted', async () => {
  const { url, silent } = await openSilentServer();
  const transport = createUndiciTransport();
  const [first, second] = [new AbortController(), new AbortController()];
  const [given, going] = [first, second].map(({ signal }) =>
    transport({ method: 'GET', url, headers: {}, signal }).catch(({ message }) => message),
  );
  await until(() => silent.opened === 2);
  first.abort(new Error('given up'));
  expect(await given).toBe('given up');
  await turns(100);
  expect(silent.open).toBeGreaterThan(0);
  second.abort(new Error('given up, too'));
  expect(await going).toBe('given up, too');
  await until(() => silent.open === 0);
});

test.each(['http', 'https'])('waits for a silent %s proxy until an abort closes its socket', async (protocol) => {
  const { url, silent } = await openSilentServer();
  // Node 26 refuses the name of a TLS server that is an IP address, and undici passes the host of the proxy.
  const host = `localhost:${new URL(url).port}`;
  const transport = createUndiciTransport({ proxy: { value: `${protocol}://${host}`, shown: host } });
  const controller = new AbortController();
  const request = { method: 'GET', url: 'https://stock.example/v1', headers: {}, signal: controller.signal };
  const sent = transport(request).catch(({ message }) => message);
  await until(() => silent.opened === 1);
  // By default, undici gives up connecting after 10 s.
  for (const ms of [0, 11_000]) undiciTimers.tick(ms);
  await turns(20);
  controller.abort(new Error('given up'));
  expect(await sent).toBe('given up');
  await until(() => silent.open === 0);
  await turns(100);
  expect(silent.open).toBe(0);
});

/**
 * Opens a server that accepts connections but sends nothing, so that a TLS handshake hangs.
 * @param serveFirst serves the first connection, which is not counted
 */
async function openSilentServer(serveFirst?: (socket: Socket) => unknown) {
  const silent = { opened: 0, open: 0 };
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    if (serveFirst !== undefined && connections === 1) return serveFirst(socket);
    silent.opened += 1;
    silent.open += 1;
    socket.on('error', () => {});
    socket.on('close', () => {
      silent.open -= 1;
    });
    return socket.resume();
  });
  return { url: `https://127.0.0.1:${await portOf(server)}/v1`, silent };
}
