import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startService } from '../../../src/service/index.ts';

/**
 * A server in a process of its own: `bare` answers a constant, anything else is the service with that many pets over the
 * given file or database. Prints `{"url","key"}`.
 */
const [what = '', file = ''] = process.argv.slice(2);
const told = what === 'bare' ? await serveConstant() : await serveStock(Number(what));
process.stdout.write(`${JSON.stringify(told)}\n`);

async function serveConstant() {
  const body = '[{"petId":1,"quantity":12,"status":"available"}]';
  const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length };
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, headers).end(body);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: '' };
}

async function serveStock(pets: number) {
  const limits = { minute: 10n ** 15n, day: 10n ** 15n };
  // On a database all have one key.
  const store = file.startsWith('postgres') ? { database: file, key: 'a-key-of-the-benchmark' } : { file };
  const { url, key } = await startService({ ...store, pets, limits, clock: Date });
  return { url, key };
}
