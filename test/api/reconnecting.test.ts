import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { createServer as createFront } from 'node:net';
import { expect, test } from 'vitest';
import { createUndiciTransport } from '../../src/api/undici.ts';
import { portOf } from '../support/answering.ts';
import { turns, until } from './server.ts';

const pem = (name: string) => readFileSync(new URL(`../support/certificates/${name}.pem`, import.meta.url), 'utf8');

/** Answers one request on its first connection, and says nothing from then on: the TLS handshake of any other connection hangs. */
async function openService() {
  const silent = { opened: 0, open: 0 };
  const seen = { requests: 0, silent };
  const server = createServer({ cert: pem('server'), key: pem('server-key') }, (_request, response) => {
    seen.requests += 1;
    if (seen.requests === 1) response.end('{}');
  });
  let connections = 0;
  const front = createFront((socket) => {
    connections += 1;
    if (connections === 1) {
      server.emit('connection', socket);
      return;
    }
    silent.opened += 1;
    silent.open += 1;
    socket.on('error', () => {});
    socket.on('close', () => {
      silent.open -= 1;
    });
    socket.resume();
  });
  return { url: `https://127.0.0.1:${await portOf(front)}/v1`, seen };
}

test.each([
  ['while it is opened', (opened: () => number) => until(() => opened() === 1)],
  ['before that', () => Promise.resolve()],
])(
  'a request that is given up on a connection that is opened anew leaves no socket behind: %s',
  async (_when, wait) => {
    const { url, seen } = await openService();
    const transport = createUndiciTransport({ ca: [pem('authority')] });
    const send = (signal: AbortSignal) => transport({ method: 'GET', url, headers: {}, signal });
    const [first, second] = [new AbortController(), new AbortController()];
    const { body } = await send(first.signal);
    for await (const _chunk of body);
    const hanging = send(first.signal);
    await until(() => seen.requests === 2);
    first.abort(new Error('no answer'));
    await expect(hanging).rejects.toThrow('no answer');
    const next = send(second.signal).catch(({ message }) => message);
    await wait(() => seen.silent.opened);
    second.abort(new Error('given up'));
    expect(await next).toBe('given up');
    await turns(100);
    await until(() => seen.silent.open === 0);
  },
);
