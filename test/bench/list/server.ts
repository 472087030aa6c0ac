import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { bodyOf } from './stock.ts';

/**
 * A server in a process of its own that answers every request with the list of so many pets, and with the headers of the
 * service. `server.js 1000000 50` sends 50 MB a second, and without the second number as fast as the client reads. Prints `{"url"}`.
 */
const [pets, megabytesPerSecond] = process.argv.slice(2).map(Number);
const body = bodyOf(pets ?? 0);

const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    'Cache-Control': 'no-store',
    'X-RateLimit-Limit': '1000000000',
    'X-RateLimit-Remaining': '999999999',
    'X-RateLimit-Reset': String(Math.ceil(Date.now() / 60_000) * 60),
  });
  if (megabytesPerSecond === undefined) response.end(body);
  else void throttled(response, megabytesPerSecond * 1e6);
});

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}/v1` })}\n`);
});

/** A line is as fast as it is: time that a slow reader has lost is not made up for, but for a tenth of a second. */
async function throttled(response: ServerResponse, bytesPerSecond: number): Promise<void> {
  const closed = once(response, 'close');
  let sent = 0;
  let began = performance.now();
  while (sent < body.length && !response.destroyed) {
    await delay(2);
    const due = ((performance.now() - began) / 1000) * bytesPerSecond;
    const piece = body.subarray(sent, Math.max(sent, Math.min(body.length, Math.floor(due))));
    sent += piece.length;
    if (response.write(piece)) continue;
    await Promise.race([once(response, 'drain'), closed]);
    const late = performance.now() - began - (sent / bytesPerSecond) * 1000;
    if (late > 100) began += late - 100;
  }
  response.end();
}
