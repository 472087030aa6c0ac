import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { bodyOf, compact, shapesOf, variants } from './shapes.ts';

/** The options of the server: JSON, its only argument. */
export interface ServerOptions {
  readonly pets: number;
  /** The speed of the line; default: as fast as the client reads. */
  readonly megabytesPerSecond?: number | undefined;
  /** The names of the lists at `/0/v1`, `/1/v1` and so on, from `shapesOf`, `variants` or `compact`. */
  readonly shapes: readonly string[];
  readonly seed: number;
}

/**
 * Runs in a process of its own (`serveLists`), and responds to every request with a list of pets and the headers of the
 * service. Prints the URL of each list: `{"urls"}`.
 */
const { pets, megabytesPerSecond, shapes, seed } = JSON.parse(process.argv[2] ?? '{}') as ServerOptions;
const known = [compact, ...shapesOf(seed), ...variants];
const lists = shapes.map((wanted) => {
  const shape = known.find(({ name }) => name === wanted) ?? compact;
  const body = bodyOf(pets, shape);
  const sent = shape.isGzip ? gzipSync(body) : shape.chunk === undefined ? body : framed(body, shape.chunk);
  return { shape, sent };
});

const server = createServer((request, response) => {
  request.resume();
  const list = lists[Number(/^\/(\d+)/.exec(request.url ?? '')?.[1])];
  if (list === undefined) return void response.writeHead(404).end();
  const { shape, sent } = list;
  const headers = {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    'X-RateLimit-Limit': '1000000000',
    'X-RateLimit-Remaining': '999999999',
    'X-RateLimit-Reset': String(Math.ceil(Date.now() / 60_000) * 60),
    ...(shape.isGzip ? { 'Content-Encoding': 'gzip' } : {}),
  };
  if (shape.chunk !== undefined) return sendRaw(request.socket, headers, sent);
  response.writeHead(200, { ...headers, 'Content-Length': sent.length });
  if (megabytesPerSecond === undefined) return void response.end(sent);
  const pieces = Readable.from(paced(sent, megabytesPerSecond * 1e6), { highWaterMark: 1 });
  pipeline(pieces, response).catch(() => response.destroy());
});

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  const urls = lists.map((_, index) => `http://127.0.0.1:${port}/${index}/v1`);
  process.stdout.write(`${JSON.stringify({ urls })}\n`);
});

/**
 * Returns the body in HTTP chunks. Node would write them one by one, and be slower than the programs that read them.
 */
function framed(body: Buffer, size: number): Buffer {
  const frames = Array.from({ length: Math.ceil(body.length / size) }, (_, index) => {
    const chunk = body.toString('latin1', index * size, (index + 1) * size);
    return `${chunk.length.toString(16)}\r\n${chunk}\r\n`;
  });
  return Buffer.from(`${frames.join('')}0\r\n\r\n`, 'latin1');
}

function sendRaw(socket: Socket, headers: Readonly<Record<string, string>>, frames: Buffer): void {
  const all = { ...headers, 'Transfer-Encoding': 'chunked', Connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 200 OK\r\n${lines.join('')}\r\n`);
  socket.end(frames);
}

/** Yields a body at the speed of a line. If the reader is slow, at most a tenth of a second is made up for. */
async function* paced(body: Buffer, bytesPerSecond: number): AsyncGenerator<Buffer> {
  let began = performance.now();
  for (let sent = 0, due = 0; sent < body.length; sent = due) {
    await delay(2);
    began = Math.max(began, performance.now() - 100 - (sent / bytesPerSecond) * 1000);
    due = Math.floor(((performance.now() - began) / 1000) * bytesPerSecond);
    yield body.subarray(sent, due);
  }
}
