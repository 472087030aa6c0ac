import { createServer, type ServerResponse } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { Readable } from 'node:stream';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { listening } from '../support/servers.ts';
import { errorJson, openShop, type ShopRunOptions, sent } from '../support/shop.ts';

vi.setConfig({ testTimeout: 60_000 });

const MiB = 1024 * 1024;

/** Starts a service whose responses the test writes. @returns its base URL */
async function served(write: (response: ServerResponse, method: string) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    response.on('error', () => {});
    write(response, request.method ?? '');
  });
  return listening(server);
}

/** Starts a service whose responses stream these chunks. */
function streamed(chunks: () => Iterable<string | Buffer>): Promise<string> {
  return served((response) => flow(chunks, response));
}

function flow(chunks: () => Iterable<string | Buffer>, to: NodeJS.WritableStream): void {
  Readable.from(chunks())
    .on('error', () => {})
    .pipe(to);
}

/** Starts a service whose responses are this beginning, followed by the letter x without end. */
function endless(beginning: string): Promise<string> {
  const letters = Buffer.alloc(64 * 1024, 'x');
  return streamed(function* () {
    yield beginning;
    for (;;) yield letters;
  });
}

/** Starts a service that lists this many items, each with its own status of this many KiB. */
function manyItems(count: number, kibibytes: number, hasNote = false): Promise<string> {
  const long = 'x'.repeat(kibibytes * 1024);
  return streamed(function* () {
    for (let id = 0; id < count; id += 1)
      yield `${id === 0 ? '[' : ','}{"petId":${id},"quantity":1,"note":"${hasNote ? long : ''}","status":"${id}${long}"}`;
    yield ']';
  });
}

async function run(command: string, url: string, options: ShopRunOptions = {}) {
  const shop = await openShop();
  return shop.run(command, { env: { PETSTOCK_URL_STAGING: url }, ...options });
}

/** Runs a command. @returns its result, and by how many bytes the memory of this process grew */
async function measured(...args: Parameters<typeof run>) {
  const before = process.memoryUsage().rss;
  const result = await run(...args);
  return { result, grown: process.memoryUsage().rss - before };
}

describe('a response without end', () => {
  const item = (number: number) => `Item ${number} of the response to GET /inventory exceeds the maximum of 16 MiB`;

  test.each([
    ['orders list', '["', 'The response to GET /store/orders exceeds the maximum of 16 MiB'],
    ['pets get 1', '{"name":"', 'The response to GET /pets/1 exceeds the maximum of 16 MiB'],
    ['inventory list', '[{"petId":1,"quantity":2,"status":"', item(1)],
    ['inventory list', '[{"petId":1,"quantity":2,"status":"a"},{"n', item(2)],
    ['inventory get 1', '[{"note":"', item(1)],
  ])('stops %s at the size limit of an endless response that begins with %s', async (command, beginning, message) => {
    const { result, grown } = await measured(`${command} --json`, await endless(beginning));
    expect(result).toMatchObject({ code: 1, requests: [expect.anything()] });
    expect(errorJson(result.stderr).error.message).toContain(message);
    expect(grown).toBeLessThan(300 * MiB);
  });

  test('stops api GET at 16 MiB of an endless response on a terminal', async () => {
    const result = await run('api GET /x', await endless('"'), { terminal: 80 });
    expect(result).toMatchObject({ code: 1, stdout: '' });
    expect(result.stderr).toContain('longer than 16 MiB, which is too much for a terminal');
  });
});

describe('a compressed bomb', () => {
  const bomb = Buffer.alloc(200 * MiB, ' ');
  test.each([
    ['gzip', gzipSync(bomb)],
    ['deflate', deflateSync(bomb)],
    ['br', brotliCompressSync(bomb)],
  ])('fails before it has unpacked a whole compression bomb: %s', async (encoding, packed) => {
    const url = await served((response) => response.writeHead(200, { 'content-encoding': encoding }).end(packed));
    const before = process.memoryUsage().rss;
    expect((await run('orders list', url)).code).toBe(1);
    expect((await run('inventory set 1 5', url)).code).not.toBe(0);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * MiB);
  });

  test('reports the status of an error response whose body is a compression bomb', async () => {
    const packed = gzipSync(bomb);
    const url = await served((response) => response.writeHead(400, { 'content-encoding': 'gzip' }).end(packed));
    expect(await run('inventory set 1 5', url)).toMatchObject({ code: 10 });
    const { stderr } = await run('inventory list', url);
    expect(stderr).toContain('Error: The service returned 400.');
  });
});

test('reads the stock back after a write whose response is too long', async () => {
  const quantities = [10];
  const url = await served((response, method) => {
    if (method === 'GET') return response.end(`[{"petId":1,"quantity":${quantities.at(-1)},"status":"available"}]`);
    quantities.push(5);
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(8 * MiB, ' ')));
  });
  const result = await run('inventory apply - --yes --json', url, { stdin: 'petId,quantity\n1,5\n' });
  expect(sent(result).map((line) => line.split(' ')[0])).toEqual(['GET', 'PATCH', 'GET']);
  expect(result.code).toBe(0);
  expect(JSON.parse(result.stdout).counts).toMatchObject({ applied: 1, unknown: 0 });
});

test('reads a response header of 60 KiB, and fails at once on a header of 70 KiB', async () => {
  const write = (size: number) => (response: ServerResponse) =>
    response.writeHead(200, { 'x-long': 'x'.repeat(size) }).end('[]');
  expect((await run('inventory list', await served(write(60 * 1024)))).code).toBe(0);
  const result = await run('inventory list', await served(write(70 * 1024)));
  expect(result.code).toBe(1);
  expect(result.stderr).toContain('The response header exceeds the maximum of 64 KiB');
  expect(result.requests).toHaveLength(1);
});

test('reads a list of 60 MB in less than 100 MiB of memory', async () => {
  const { result, grown } = await measured('inventory list --summary --status sold', await manyItems(60, 500, true));
  expect(result.code).toBe(0);
  expect(grown).toBeLessThan(100 * MiB);
});

test('does not keep text in memory that a table truncates', { timeout: 300_000 }, async () => {
  const { result, grown } = await measured('inventory list', await manyItems(230, 1000), { terminal: 80 });
  expect(result.code).toBe(0);
  expect(result.stdout.split('\n')).toHaveLength(232);
  expect(grown).toBeLessThan(120 * MiB);
});

test('prints the first bytes of a response to api GET before the last bytes arrive', async () => {
  let finish: () => void = () => {};
  const url = await served((response) => {
    response.write('[1,');
    finish = () => response.end('2]');
  });
  const onStdout = (text: string) => text === '[1,' && finish();
  expect(await run('api GET /x', url, { onStdout })).toMatchObject({ code: 0, stdout: '[1,2]' });
});

describe('a body in tiny chunks', () => {
  /** Returns a chunk of one byte with an extension of 15 KB, which is skipped: 12,000 chunks are 180 MB on the wire. */
  const extended = (byte: string) => `1;${'e'.repeat(15_000)}\r\n${byte}\r\n`;
  const count = 12_000;

  const raw = (status: string) =>
    listening(
      createTcpServer((socket) => {
        socket.on('error', () => {});
        const answer = function* () {
          yield `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`;
          yield extended('"');
          const some = extended('a').repeat(20);
          for (let sent = 0; sent < count; sent += 20) yield some;
          yield `${extended('"')}0\r\n\r\n`;
        };
        socket.once('data', () => flow(answer, socket));
      }),
    );

  test.each([
    ['orders list', '200 OK', 0, undefined],
    ['inventory set 1 5', '200 OK', 8, undefined],
    ['api GET /x', '200 OK', 0, 80],
    ['api GET /x', '400 Bad Request', 10, undefined],
  ])(
    'runs %s in little memory if the body of a %s response comes in tiny chunks',
    { timeout: 300_000 },
    async (command, status, code, terminal) => {
      const url = await raw(status);
      const before = process.memoryUsage().arrayBuffers;
      let most = 0;
      const look = () => {
        most = Math.max(most, process.memoryUsage().arrayBuffers - before);
      };
      const looking = setInterval(look, 20);
      onTestFinished(() => clearInterval(looking));
      expect((await run(command, url, { terminal, onStdout: look })).code).toBe(code);
      expect(most).toBeLessThan(150 * MiB);
    },
  );
});
