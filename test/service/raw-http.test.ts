import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'vitest';
import { start, type TestService, temporaryFile, test } from './support.ts';

const statusesIn = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

const CLOSE = 'Connection: close\r\n';
const patchOf = ({ key }: TestService, rest: string) =>
  `PATCH /v1/inventory/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n${rest}`;

test('changes nothing if a client disconnects in the middle of a request body', async () => {
  const service = await start({ file: temporaryFile() });
  const before = (await service.get('/inventory')).text;
  const { hostname, port } = new URL(service.url);
  await new Promise<void>((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(patchOf(service, 'Content-Length: 20\r\n\r\n{"quantity":5}'), () => socket.destroy());
    });
    socket.on('close', () => resolve());
  });
  expect((await service.get('/inventory')).text).toBe(before);
});

test("refuses a pet's path that can't be decoded, with the headers of its route", async ({ service }) => {
  const { status, headers } = await service.get('/pets/%zz');
  expect({ status, ...headers }).toMatchObject({
    status: 400,
    deprecation: '@1767225600',
    sunset: expect.stringContaining('2027'),
  });
  expect((await service.get('/%zz')).headers).not.toHaveProperty('sunset');
});

test('answers pipelined requests in order', async ({ service }) => {
  const get = (path: string, more = '') =>
    `GET /v1${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.key}\r\n${more}\r\n`;
  const answer = await service.raw(get('/inventory') + get('/nowhere') + get('/store/orders', CLOSE));
  expect(statusesIn(answer)).toEqual([200, 404, 200]);
});

test('keeps a connection open for a later request', async ({ service }) => {
  const get = (more = '') =>
    `GET /v1/nowhere HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.key}\r\n${more}\r\n`;
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.write(get());
  await once(socket, 'data');
  socket.write(get(CLOSE));
  let later = '';
  for await (const chunk of socket) later += chunk;
  expect(statusesIn(later)).toEqual([404]);
});
