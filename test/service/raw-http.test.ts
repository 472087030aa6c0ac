import { connect } from 'node:net';
import { describe, expect } from 'vitest';
import { NOON, start, type TestService, temporaryFile, test } from './support.ts';

const RATE_LIMIT = /X-RateLimit-Limit: 600\r\nX-RateLimit-Remaining: 599\r\nX-RateLimit-Reset: (\d+)\r\n/;

/** Status line, headers that every answer has, and the Error body: of an answer that node's parser gave no response for. */
function expectRefusal(text: string, status: number, code: string): void {
  expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(text).toMatch(RATE_LIMIT);
  expect(text).toContain(`Date: ${new Date(NOON).toUTCString()}\r\n`);
  expect(text).toContain('Cache-Control: no-store\r\n');
  expect(text).toMatch(/X-Request-Id: \S+\r\n/);
  expect(text).toContain('Content-Type: application/json\r\n');
  expect(text).toContain('Connection: close\r\n');
  expect(JSON.parse(text.split('\r\n\r\n')[1] ?? '')).toEqual({ code, message: expect.any(String), status });
}

/** The statuses of all that came back. */
const statusesIn = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

const GET = 'GET /v1/inventory HTTP/1.1\r\n';
const CLOSE = 'Connection: close\r\n';
const SET = 'Content-Length: 14\r\n\r\n{"quantity":5}';
const patchOf = ({ key }: TestService, rest: string) =>
  `PATCH /v1/inventory/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n${rest}`;

describe('what the HTTP parser refuses', () => {
  const malformed = 'malformed_request';
  const tooLarge = 'headers_too_large';

  test.for([
    ['a space in a header name', `${GET}Host : x\r\n\r\n`, 400, malformed],
    ['two lengths', 'PATCH / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400, malformed],
    ['a method that is no token', 'FE(ED /v1/inventory HTTP/1.1\r\nHost: x\r\n\r\n', 400, malformed],
    ['TLS', '\x16\x03\x01\x02', 400, malformed],
    ['a header of 17 KB', `${GET}Host: x\r\nX-Long: ${'a'.repeat(17_000)}\r\n\r\n`, 431, tooLarge],
    ['a header of 2 MB', `${GET}Host: x\r\nX-Long: ${'a'.repeat(2_000_000)}\r\n\r\n`, 431, tooLarge],
    ['more headers than it counts', `${GET}Host: x\r\n${'a:\r\n'.repeat(2_001)}${CLOSE}\r\n`, 431, tooLarge],
    ['a method in lower case', 'get /v1/inventory HTTP/1.1\r\nHost: x\r\n\r\n', 501, 'not_implemented'],
    ['a coding after chunked', `${GET}Host: x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n`, 501, 'not_implemented'],
  ] as const)('%s', async ([, bytes, status, code], { service }) => {
    expectRefusal(await service.raw(bytes), status, code);
  });

  test('of fewer headers none is left out', async ({ service }) => {
    const key = `Authorization: Bearer ${service.key}\r\n`;
    expect(statusesIn(await service.raw(`${GET}Host: x\r\n${'a:\r\n'.repeat(1_997)}${key}${CLOSE}\r\n`))).toEqual([
      200,
    ]);
  });

  test('two Authorization headers: 400, whichever of them is valid', async ({ service }) => {
    for (const keys of [
      [service.key, 'psk_wrong'],
      ['psk_wrong', service.key],
      [service.key, service.key],
    ]) {
      const fields = keys.map((key) => `Authorization: Bearer ${key}\r\n`).join('');
      const text = await service.raw(`${GET}Host: x\r\n${fields}${CLOSE}\r\n`);
      expect(text).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"malformed_request"/);
    }
  });

  test('what comes after a complete request is refused after that has been answered', async ({ service }) => {
    expect(statusesIn(await service.raw(patchOf(service, `${SET}garbage\r\n\r\n`)))).toEqual([200, 400]);
  });

  test('a malformed chunk of a body: 400', async ({ service }) => {
    const answer = await service.raw(patchOf(service, 'Transfer-Encoding: chunked\r\n\r\nzz\r\n'));
    expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"malformed_request"/);
  });
});

describe('headers that are well-formed HTTP and yet refused, charged to the key', () => {
  const ask = (service: TestService, line: string, headers: string) => {
    return service.raw(`${line} HTTP/1.1\r\nAuthorization: Bearer ${service.key}\r\n${CLOSE}${headers}\r\n`);
  };

  test.for([
    ['no host', '', 400, 'malformed_request', 999],
    ['two hosts', 'Host: x\r\nHost: x\r\n', 400, 'malformed_request', 999],
    ['a host with a space', 'Host: a b\r\n', 400, 'malformed_request', 999],
    ['a host with a path', 'Host: a/b\r\n', 400, 'malformed_request', 999],
    ['a host with a user', 'Host: a@b\r\n', 400, 'malformed_request', 999],
    ['a list of hosts in one line', 'Host: a, b\r\n', 400, 'malformed_request', 999],
    // The parser gives it up before the key is known.
    ['a body in gzip', 'Host: x\r\nTransfer-Encoding: gzip\r\n', 501, 'not_implemented', 600],
    ['a body in gzip and chunked', 'Host: x\r\nTransfer-Encoding: gzip, chunked\r\n', 501, 'not_implemented', 999],
    ['an answer in gzip', 'Host: x\r\nTE: trailers, gzip;q=0.5\r\n', 501, 'not_implemented', 999],
  ] as const)('%s', async ([, headers, status, code, remaining], { service }) => {
    const answer = await ask(service, 'GET /v1/inventory', headers);
    expect(answer).toContain(`X-RateLimit-Remaining: ${remaining}\r\n`);
    expect(answer).toContain(`"code":"${code}"`);
    expect(statusesIn(answer)).toEqual([status]);
  });

  test.for(['x', 'x:80', '[::1]:80', '127.0.0.1', 'shop_1.example.', 'xn--bcher-kva.example', ''])(
    'the host "%s" is one',
    async (host, { service }) => {
      const answer = await ask(service, 'GET /v1/inventory', `Host: ${host}\r\nTE: trailers\r\n`);
      expect(statusesIn(answer)).toEqual([200]);
    },
  );

  test.for(['PROPFIND', 'MKCOL', 'QUERY'])('%s, which no operation has: 501', async (method, { service }) => {
    expect(statusesIn(await ask(service, `${method} /v1/inventory`, 'Host: x\r\n'))).toEqual([501]);
  });

  test('OPTIONS *: 204 with all methods, as OPTIONS elsewhere', async ({ service }) => {
    const answer = await ask(service, 'OPTIONS *', 'Host: x\r\n');
    expect(statusesIn(answer)).toEqual([204]);
    expect(answer).toContain('Allow: GET, HEAD, OPTIONS, PATCH\r\n');
    expect(answer).toContain('X-RateLimit-Remaining: 999\r\n');
    expect(statusesIn(await ask(service, 'GET *', 'Host: x\r\n'))).toEqual([404]);
  });
});

test('Expect: 100-continue: the body is asked for when it is going to be read, and not by HTTP/1.0', async ({
  service,
}) => {
  const bytes = patchOf(service, `Expect: 100-continue\r\n${CLOSE}${SET}`);
  expect(await service.raw(bytes)).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
  expect(await service.raw(bytes.replace('HTTP/1.1', 'HTTP/1.0'))).toMatch(/^HTTP\/1\.1 200 OK/);
  const refused = await service.raw(patchOf(service, 'Expect: 100-continue\r\nContent-Length: 99999\r\n\r\n'));
  expect(refused).toMatch(/^HTTP\/1\.1 413 [\s\S]*Connection: close/);
});

test('a client that goes away in the middle of its body leaves nothing behind', async () => {
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

test('pipelined requests are answered in their order', async ({ service }) => {
  const get = (path: string, more = '') =>
    `GET /v1${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.key}\r\n${more}\r\n`;
  const answer = await service.raw(get('/inventory') + get('/nowhere') + get('/store/orders', CLOSE));
  expect(statusesIn(answer)).toEqual([200, 404, 200]);
});
