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

function patchOf(service: TestService, rest: string): string {
  return `PATCH /v1/inventory/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.key}\r\nContent-Type: application/json\r\n${rest}`;
}

describe('what the HTTP parser refuses', () => {
  test.each([
    ['a space in a header name', 'GET /v1/inventory HTTP/1.1\r\nHost : x\r\n\r\n'],
    ['two lengths', 'PATCH /v1/inventory/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    ['a method that is no token', 'FE(ED /v1/inventory HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['TLS', '\x16\x03\x01\x02'],
  ])('%s: 400', async (_name, bytes) => {
    expectRefusal(await (await start()).raw(bytes), 400, 'malformed_request');
  });

  test.for([17_000, 2_000_000])('a header of %i bytes: 431, and the client can read it', async (size, { service }) => {
    const answer = await service.raw(`GET /v1/inventory HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(size)}\r\n\r\n`);
    expectRefusal(answer, 431, 'headers_too_large');
  });

  test('more headers than the parser counts: 431, and none is left out of fewer', async ({ service }) => {
    const askWith = (count: number) => {
      const fields = 'a:\r\n'.repeat(count);
      return service.raw(
        `GET /v1/inventory HTTP/1.1\r\nHost: x\r\n${fields}Authorization: Bearer ${service.key}\r\nConnection: close\r\n\r\n`,
      );
    };
    expectRefusal(await askWith(2_001), 431, 'headers_too_large');
    expect(await askWith(1_997)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('two Authorization headers: 400, whichever of them is valid', async ({ service }) => {
    for (const [one, other] of [
      [service.key, 'psk_wrong'],
      ['psk_wrong', service.key],
      [service.key, service.key],
    ]) {
      const text = await service.raw(
        `GET /v1/inventory HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${one}\r\nAuthorization: Bearer ${other}\r\nConnection: close\r\n\r\n`,
      );
      expect(text).toMatch(/^HTTP\/1\.1 400 /);
      expect(text).toContain('"code":"malformed_request"');
    }
  });

  test('what comes after a complete request is refused after that has been answered', async ({ service }) => {
    const answer = await service.raw(patchOf(service, 'Content-Length: 14\r\n\r\n{"quantity":5}garbage\r\n\r\n'));
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
  });

  test('a malformed chunk of a body: 400', async ({ service }) => {
    const answer = await service.raw(patchOf(service, 'Transfer-Encoding: chunked\r\n\r\nzz\r\n'));
    expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"malformed_request"/);
  });

  test.each([
    ['a method in lower case', 'get /v1/inventory HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a coding after chunked', 'GET /v1/inventory HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n'],
  ])('%s: 501', async (_name, bytes) => {
    expectRefusal(await (await start()).raw(bytes), 501, 'not_implemented');
  });
});

test('HTTP/1.1 without Host: 400, charged to the key', async ({ service }) => {
  const answer = await service.raw(
    `GET /v1/inventory HTTP/1.1\r\nAuthorization: Bearer ${service.key}\r\nConnection: close\r\n\r\n`,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*X-RateLimit-Remaining: 999[\s\S]*"code":"malformed_request"/);
});

describe('headers that are well-formed HTTP and yet refused, charged to the key', () => {
  const ask = async (line: string, headers: string) => {
    const service = await start();
    const fields = `Authorization: Bearer ${service.key}\r\nConnection: close\r\n`;
    return service.raw(`${line} HTTP/1.1\r\n${fields}${headers}\r\n`);
  };

  test.each([
    ['two hosts', 'Host: x\r\nHost: x\r\n', 400, 'malformed_request'],
    ['a host with a space', 'Host: a b\r\n', 400, 'malformed_request'],
    ['a host with a path', 'Host: a/b\r\n', 400, 'malformed_request'],
    ['a host with a user', 'Host: a@b\r\n', 400, 'malformed_request'],
    ['a list of hosts in one line', 'Host: a, b\r\n', 400, 'malformed_request'],
    ['a body in gzip', 'Host: x\r\nTransfer-Encoding: gzip\r\n', 501, 'not_implemented'],
    ['a body in gzip and chunked', 'Host: x\r\nTransfer-Encoding: gzip, chunked\r\n', 501, 'not_implemented'],
    ['an answer in gzip', 'Host: x\r\nTE: trailers, gzip;q=0.5\r\n', 501, 'not_implemented'],
  ])('%s', async (_name, headers, status, code) => {
    const answer = await ask('GET /v1/inventory', headers);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*X-RateLimit-Limit: [\\s\\S]*"code":"${code}"`));
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  });

  test.each(['x', 'x:80', '[::1]:80', '127.0.0.1', 'shop_1.example.', 'xn--bcher-kva.example', ''])(
    'the host "%s" is one',
    async (host) => {
      expect(await ask('GET /v1/inventory', `Host: ${host}\r\nTE: trailers\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
    },
  );

  test.each(['PROPFIND', 'MKCOL', 'QUERY'])('%s, which no operation has: 501', async (method) => {
    expect(await ask(`${method} /v1/inventory`, 'Host: x\r\n')).toMatch(/^HTTP\/1\.1 501 /);
  });

  test('OPTIONS *: 204 with all methods, as OPTIONS elsewhere', async () => {
    const answer = await ask('OPTIONS *', 'Host: x\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 204 /);
    expect(answer).toContain('Allow: GET, HEAD, OPTIONS, PATCH\r\n');
    expect(answer).toContain('X-RateLimit-Remaining: 999\r\n');
    expect(await ask('GET *', 'Host: x\r\n')).toMatch(/^HTTP\/1\.1 404 /);
  });
});

describe('Expect: 100-continue', () => {
  test('the body is asked for when it is going to be read', async ({ service }) => {
    const bytes = patchOf(
      service,
      'Expect: 100-continue\r\nConnection: close\r\nContent-Length: 14\r\n\r\n{"quantity":5}',
    );
    expect(await service.raw(bytes)).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
  });

  test('a client of HTTP/1.0 gets no interim answer', async ({ service }) => {
    const bytes = patchOf(service, 'Expect: 100-continue\r\nContent-Length: 14\r\n\r\n{"quantity":5}');
    expect(await service.raw(bytes.replace('HTTP/1.1', 'HTTP/1.0'))).toMatch(/^HTTP\/1\.1 200 OK/);
  });

  test('it is refused without being asked for, and the connection ends', async ({ service }) => {
    const answer = await service.raw(patchOf(service, 'Expect: 100-continue\r\nContent-Length: 99999\r\n\r\n'));
    expect(answer).toMatch(/^HTTP\/1\.1 413 [\s\S]*Connection: close/);
  });
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
  const answer = await service.raw(get('/inventory') + get('/nowhere') + get('/store/orders', 'Connection: close\r\n'));
  expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 404', 'HTTP/1.1 200']);
});
