import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jsonOf, linesOf, variants } from './lists.ts';

/** Answers `/<variant>/v1/inventory` with its list. The number of pets is its only argument. Prints its port. */
const pets = Number(process.argv[2]);
const bodies = new Map<string, Buffer>(
  variants.map((variant) => [variant, Buffer.from(`[${linesOf(pets, variant).map(jsonOf).join(',')}]`)]),
);

const server = createServer((request, response) => {
  request.resume();
  const body = bodies.get((request.url ?? '').split('/')[1] ?? '');
  if (body === undefined) return void response.writeHead(404).end();
  response.writeHead(200, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    'X-RateLimit-Limit': '1000000000',
    'X-RateLimit-Remaining': '999999999',
    'X-RateLimit-Reset': String(Math.ceil(Date.now() / 60_000) * 60),
  });
  response.end(body);
});

server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
