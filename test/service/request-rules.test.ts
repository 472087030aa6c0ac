import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Refusal } from '../../src/service/http/answer.ts';
import type { Exchange } from '../../src/service/http/exchange.ts';
import {
  headersRefusal,
  type ParserError,
  parserRefusal,
  refuseConnection,
  requireWellFormed,
} from '../../src/service/http/refusals.ts';
import { bearerToken, generateAdminToken, generateKey } from '../../src/service/keys/key.ts';
import { addressBuckets } from '../../src/service/limits/admission.ts';
import { createMetrics } from '../../src/service/metrics.ts';
import { exactInt64, parsePetId, parseQuantity, readPetId } from '../../src/service/routes/values.ts';
import type { ServiceStorage } from '../../src/service/storage/storage.ts';
import { NOON } from './support.ts';

interface Sent {
  readonly method?: string;
  readonly malformed?: boolean;
  readonly version?: string;
  readonly hosts?: string[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns a request with only what `requireWellFormed` reads. */
function exchangeOf({ method = 'GET', malformed = false, version = '1.1', hosts = ['shop'], headers = {} }: Sent) {
  const request = { headers, headersDistinct: hosts.length === 0 ? {} : { host: hosts }, httpVersion: version };
  return { request, method, target: { malformed } } as unknown as Exchange;
}

describe('a request that no operation could handle', () => {
  test.each<[Sent, string]>([
    [{ malformed: true }, 'malformed_path'],
    [{ hosts: [] }, 'malformed_request'],
    [{ hosts: ['a', 'a'] }, 'malformed_request'],
    ...['a b', 'a:b', '[1', 'a/b', '%2', '[::1]x', 'x[::1]', 'a:1:2', 'a@b'].map(
      (host) => [{ hosts: [host] }, 'malformed_request'] as [Sent, string],
    ),
    [{ headers: { expect: '200-ok' } }, 'expectation_failed'],
    [{ method: 'BREW' }, 'not_implemented'],
    [{ headers: { te: 'gzip' } }, 'not_implemented'],
    [{ headers: { te: 'trailers, gzip;q=1' } }, 'not_implemented'],
    [{ headers: { te: 'xtrailers' } }, 'not_implemented'],
    [{ headers: { te: 'trailersx' } }, 'not_implemented'],
    [{ headers: { 'transfer-encoding': 'gzip' } }, 'not_implemented'],
    [{ headers: { 'transfer-encoding': 'gzip, chunked' } }, 'not_implemented'],
  ])('refuses the request %j with %s', (sent, code) => {
    expect(() => requireWellFormed(exchangeOf(sent))).toThrow(expect.objectContaining({ code }));
  });

  test.each<[Sent]>([
    [{ hosts: [], version: '1.0' }],
    ...['', 'shop:', 'shop:80', '127.0.0.1:4010', '[::1]', '[::ffff:1.2.3.4]:80', 'a-b.%20~'].map(
      (host) => [{ hosts: [host] }] as [Sent],
    ),
    [{ headers: { expect: '100-Continue' } }],
    [{ headers: { te: 'Trailers;q=0.5, chunked , ' } }],
    [{ headers: { 'transfer-encoding': ' Chunked ' } }],
    ...['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE'].map(
      (method) => [{ method }] as [Sent],
    ),
  ])('accepts the well-formed request %j', (sent) => {
    expect(requireWellFormed(exchangeOf(sent))).toBeUndefined();
  });

  test.each<[string, number, string[]]>([
    ['a space in a name', 400, ['x-a ', 'b']],
    ['a colon as a name', 400, ['a', 'b', ':', 'c']],
    ['an empty name', 400, ['', 'b']],
    ['more than 2,000 fields', 431, Array.from({ length: 4001 }, () => 'a')],
  ])('refuses headers with %s: %i', (_what, status, raw) => {
    expect(headersRefusal(raw)?.status).toBe(status);
  });

  test('accepts headers with any valid name, and up to 2,000 of them', () => {
    expect(headersRefusal(['x-a', 'b c', "!#$%&'*+.^`|~-_9Z", ''])).toBeNull();
    expect(headersRefusal(Array.from({ length: 4000 }, () => 'a'))).toBeNull();
  });

  const packet = (text: string, bytesParsed?: number) => ({
    rawPacket: Buffer.from(text),
    ...(bytesParsed === undefined ? {} : { bytesParsed }),
  });
  const method = { code: 'HPE_INVALID_METHOD' };
  test.each<[string, number, Partial<ParserError>, string?]>([
    ['headers that are too long', 431, { code: 'HPE_HEADER_OVERFLOW' }],
    ['chunk extensions that are too long', 413, { code: 'HPE_CHUNK_EXTENSIONS_OVERFLOW' }],
    ['a request that takes too long', 408, { code: 'ERR_HTTP_REQUEST_TIMEOUT' }],
    ['an unknown transfer encoding', 501, { code: 'HPE_INVALID_TRANSFER_ENCODING' }],
    [
      'a transfer encoding with a length',
      400,
      { code: 'HPE_INVALID_TRANSFER_ENCODING', reason: "can't be present with Content-Length" },
    ],
    ['a method that was not received', 400, method],
    [
      'an unknown method',
      501,
      { ...method, ...packet('BREW /v1 HTTP/1.1\r\n') },
      'The method BREW is not implemented.',
    ],
    [
      'an unknown method in the second request of a packet',
      501,
      { ...method, ...packet('GET / HTTP/1.1\n\nBREW /v1 HTTP/1.0\n', 17) },
      'The method BREW is not implemented.',
    ],
    [
      'an unknown method directly after the parsed bytes',
      501,
      { ...method, ...packet('GET / HTTP/1.1\nBREW /v1 HTTP/1.1\n', 15) },
      'The method BREW is not implemented.',
    ],
    [
      'a method whose line is not parsed to its end',
      501,
      { ...method, ...packet('GET / HTTP/1.1\nBREW /v1 HTTP/1.1\n', 14) },
      'The method GET is not implemented.',
    ],
    [
      'an unknown method of 41 characters, of which it shows 40,',
      501,
      { ...method, ...packet(`${'B'.repeat(41)} /v1 HTTP/1.1\r\n`) },
      `The method ${'B'.repeat(40)} is not implemented.`,
    ],
    ['an unknown method with HTTP/2.0', 400, { ...method, ...packet('BREW /v1 HTTP/2.0\r\n') }],
    ['a space before the method', 400, { ...method, ...packet(' BREW /v1 HTTP/1.1\r\n') }],
    ['an unknown method with a path of 8 KiB', 400, { ...method, ...packet(`BREW /${'x'.repeat(8192)} HTTP/1.1\r\n`) }],
    ['an invalid HTTP version', 400, { code: 'HPE_INVALID_VERSION' }],
  ])('answers %s with %i', (_what, status, error, message) => {
    const refusal = parserRefusal(error as ParserError);
    expect(refusal?.status).toBe(status);
    if (message !== undefined) expect(refusal?.message).toBe(message);
  });

  test.each(['a time-out', 'the connection fails'])('keeps reading after a refusal until %s', async (what) => {
    const socket = new Duplex({ read: () => {}, write: (_bytes, _encoding, done) => done() });
    refuseConnection(socket, parserRefusal({ code: 'HPE_INVALID_VERSION' } as ParserError) as Refusal, {}, 1);
    expect([socket.writableEnded, socket.readableFlowing, socket.destroyed]).toEqual([true, true, false]);
    if (what === 'a time-out') await once(socket, 'close');
    else socket.emit('error', new Error('lost'));
    expect(socket.destroyed).toBe(true);
  });

  test('does not answer if the connection is lost', () => {
    for (const error of [{ code: 'ECONNRESET' }, {}]) expect(parserRefusal(error as ParserError)).toBeNull();
  });
});

describe('keys', () => {
  test.each([
    ['Bearer abc', 'abc'],
    ['bEARER   a b ', 'a b'],
    ['Bearer', null],
    ['Bearer ', null],
    ['Bearerabc', null],
    ['Basic abc', null],
    ['xBearer abc', null],
    ['Bearer a\nb', null],
    [undefined, null],
  ])('reads the bearer token of the Authorization header %j as %j', (field, token) => {
    expect(bearerToken(field)).toBe(token);
  });

  test('generates keys with a checksum, and tokens in another format', () => {
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    const keys = Array.from({ length: 50 }, generateKey);
    expect(new Set(keys).size).toBe(50);
    for (const key of keys) {
      const [, random = '', sum = ''] = /^psk_(\w{30})(\w{6})$/.exec(key) ?? [];
      expect([...sum].reduce((value, digit) => value * 62 + digits.indexOf(digit), 0)).toBe(crc32(random));
    }
    expect(generateAdminToken()).toMatch(/^adm_[0-9A-Za-z]{30}$/);
  });
});

describe('values of requests', () => {
  test.each<[string, bigint | null]>([
    ['9223372036854775807', 2n ** 63n - 1n],
    ['9223372036854775808', null],
    ['-9223372036854775808', -(2n ** 63n)],
    ['-9223372036854775809', null],
    ['1e18', 10n ** 18n],
    ['1e19', null],
    ['0.00e5', 0n],
    ['12.50e1', 125n],
    ['12.5', null],
    ['1200e-2', 12n],
    ['1200e-3', null],
    ['1e999999999', null],
    ['x1', null],
    ['1x', null],
    ['', null],
  ])('reads the number %s as the int64 %s', (text, value) => expect(exactInt64(text)).toBe(value));

  test.each<[string, bigint | null]>([
    ['0', 0n],
    ['-7', -7n],
    ['9223372036854775807', 2n ** 63n - 1n],
    ['-9223372036854775808', -(2n ** 63n)],
    ...['-0', '07', '7x', 'x7', '+7', '', '9223372036854775808', '-9223372036854775809', '10000000000000000000'].map(
      (text) => [text, null] as [string, null],
    ),
  ])('reads the petId of the path %j as %s', (text, petId) => {
    expect(readPetId(text)).toBe(petId);
    if (petId !== null) expect(parsePetId(text)).toBe(petId);
    else expect(() => parsePetId(text)).toThrow(expect.objectContaining({ status: 400, code: 'invalid_pet_id' }));
  });

  const bounds = { min: -1n, max: 9n };
  test.each([
    ['[1]', 'invalid_body', 'The body must be a JSON object with the field quantity.'],
    ['{}', 'missing_quantity', 'The field quantity is required.'],
    ['{"toString":1}', 'missing_quantity', 'The field quantity is required.'],
    ['{"quantity":"5"}', 'invalid_quantity', 'quantity must be a 64-bit integer.'],
    ['{"quantity":-2}', 'invalid_quantity', 'quantity must be at least -1.'],
    ['{"quantity":10}', 'invalid_quantity', 'quantity must be at most 9.'],
    ['{"quantity":5', 'invalid_json', 'The body is not valid JSON.'],
  ])('refuses the update %s with %s', (body, code, message) => {
    expect(() => parseQuantity(body, bounds)).toThrow(expect.objectContaining({ status: 400, code, message }));
  });

  test.each([
    ['-1', bounds],
    ['9', bounds],
    ['-2', { min: null, max: null }],
    ['10', { min: null, max: null }],
  ])('accepts the quantity %s within %o', (quantity, within) => {
    expect(parseQuantity(`{"quantity":${quantity},"note":1}`, within)).toBe(BigInt(quantity));
  });
});

describe('requests per address', () => {
  test('limits the requests of each address separately, and starts over in the next window', () => {
    const buckets = addressBuckets(60_000, 2n);
    const ask = (address: string, at = NOON) => buckets.admit(address, at).outcome;
    expect([ask('a'), ask('a'), ask('a'), ask('b')]).toEqual(['admitted', 'admitted', 'limited', 'admitted']);
    expect(buckets.peek('a', NOON)).toEqual({ limit: 2n, remaining: 0n, resetAt: NOON + 60_000 });
    expect(buckets.peek('a', NOON + 60_000)).toEqual({ limit: 2n, remaining: 2n, resetAt: NOON + 120_000 });
    expect(buckets.peek('c', NOON)).toMatchObject({ remaining: 2n });
    expect(ask('a', NOON + 60_000)).toBe('admitted');
  });

  test('admits requests without counting them for their address if there is no limit', () => {
    const buckets = addressBuckets(60_000, null);
    const { outcome, shown } = buckets.admit('a', NOON);
    expect([outcome, shown.limit, shown.remaining]).toEqual(['admitted', 1_000_000_000n, 999_999_999n]);
    expect(buckets.peek('a', NOON).remaining).toBe(1_000_000_000n);
  });

  test('forgets the oldest of 10,000 addresses when another address comes', () => {
    const buckets = addressBuckets(60_000, 1n);
    const left = (address: string) => buckets.peek(address, NOON).remaining;
    for (let at = 0; at < 10_000; at += 1) buckets.admit(`${at}`, NOON);
    buckets.admit('9999', NOON);
    expect([left('0'), left('1'), left('9999')]).toEqual([0n, 0n, 0n]);
    buckets.admit('new', NOON);
    expect([left('0'), left('1'), left('new')]).toEqual([1n, 0n, 0n]);
  });
});

describe('metrics', () => {
  const usage = (bannedUntil: number | null) => ({
    minute: { start: NOON - 60_000, length: 60_000, used: 3n },
    day: { start: NOON - 43_200_000, length: 86_400_000, used: 7n },
    conduct: { firstRefusalAt: null, strikes: 0, bannedUntil },
  });
  const record = (id: string, changes: object = {}) => ({
    id,
    name: id.toUpperCase(),
    revokedAt: null,
    limits: { minute: 60n, day: 1000n },
    usage: usage(null),
    ...changes,
  });
  const rig = (records: object[] | null, isUp = true) => {
    let now = 1000;
    const storage = {
      now: () => NOON,
      pool: { total: 5, idle: 3, waiting: 2 },
      keys: async () => records ?? Promise.reject(new Error('down')),
    };
    const clock = { now: () => now };
    const metrics = createMetrics({
      storage: storage as unknown as ServiceStorage,
      isUsable: async () => isUp,
      clock: clock as never,
      minuteMs: 60_000,
    });
    return {
      metrics,
      pass: (ms: number) => {
        now += ms;
      },
    };
  };
  const lines = async ({ metrics }: ReturnType<typeof rig>, name: string) =>
    (await metrics.text()).split('\n').filter((line) => line.startsWith(`petstock_${name}`));

  test('shows limits, usage and bans of valid keys in the metrics, by window', async () => {
    const shown = rig([
      record('a'),
      record('b', { name: null, usage: usage(NOON + 1) }),
      record('c', { usage: usage(NOON) }),
      record('d', { revokedAt: 1 }),
    ]);
    expect(await lines(shown, 'key_used')).toEqual(
      [
        ['a', 'A'],
        ['b', ''],
        ['c', 'C'],
      ].flatMap(([key, name]) => [
        `petstock_key_used{key="${key}",name="${name}",window="minute"} 0`,
        `petstock_key_used{key="${key}",name="${name}",window="day"} 7`,
      ]),
    );
    expect((await lines(shown, 'key_limit')).slice(0, 2)).toEqual([
      'petstock_key_limit{key="a",name="A",window="minute"} 60',
      'petstock_key_limit{key="a",name="A",window="day"} 1000',
    ]);
    expect(await lines(shown, 'key_banned')).toEqual([
      'petstock_key_banned{key="a",name="A"} 0',
      'petstock_key_banned{key="b",name=""} 1',
      'petstock_key_banned{key="c",name="C"} 0',
    ]);
    expect(await lines(shown, 'store')).toEqual(
      expect.arrayContaining([
        'petstock_store_up 1',
        'petstock_store_connections{state="idle"} 3',
        'petstock_store_connections{state="busy"} 2',
        'petstock_store_waiting_requests 2',
      ]),
    );
  });

  test('shows at most 200 keys in the metrics, and none if the storage fails', async () => {
    const many = Array.from({ length: 201 }, (_, at) => record(`k${at}`));
    expect(await lines(rig(many), 'key_banned')).toHaveLength(200);
    expect(await lines(rig(null, false), 'key_banned')).toEqual([]);
    expect(await lines(rig(null, false), 'store_up')).toEqual(['petstock_store_up 0']);
  });

  test('measures storage operations, even failed ones, and counts a negative duration as 0', async () => {
    const shown = rig([]);
    await shown.metrics.timed('find', async () => shown.pass(250));
    await expect(
      shown.metrics.timed('find', async () => {
        shown.pass(-9);
        throw new Error('down');
      }),
    ).rejects.toThrow('down');
    expect(await lines(shown, 'store_duration_seconds_sum')).toEqual([
      'petstock_store_duration_seconds_sum{operation="find"} 0.25',
    ]);
    expect(await lines(shown, 'store_duration_seconds_count')).toEqual([
      'petstock_store_duration_seconds_count{operation="find"} 2',
    ]);
  });

  test.each<[string, string, string | undefined, number | undefined, string | null, string[]]>([
    [
      'a list that is answered',
      'GET',
      '/inventory',
      200,
      null,
      [
        'http_requests_total{method="GET",route="/inventory",status="200"} 1',
        'stock_operations_total{operation="list"} 1',
      ],
    ],
    [
      'a 404, but not its unknown code',
      'PATCH',
      '/inventory/{petId}',
      404,
      'unknown',
      ['http_requests_total{method="PATCH",route="/inventory/{petId}",status="404"} 1'],
    ],
    [
      'an unanswered request with an unknown method',
      'BREW',
      undefined,
      undefined,
      null,
      ['http_requests_total{method="other",route="other",status="none"} 1'],
    ],
    [
      'a refusal of a banned key',
      'GET',
      '/inventory',
      429,
      'key_banned',
      ['http_requests_total{method="GET",route="/inventory",status="429"} 1', 'refusals_total{code="key_banned"} 1'],
    ],
  ])('counts %s in the metrics', async (_what, method, path, status, code, counted) => {
    const shown = rig([]);
    shown.metrics.over({ method, route: path && { path }, code, entry: { status } } as never, 0.5);
    const found = ['http_requests_total', 'stock_operations_total', 'refusals_total'].map((name) => lines(shown, name));
    expect((await Promise.all(found)).flat()).toEqual(counted.map((line) => `petstock_${line}`));
  });

  test('counts new bans, administrative changes and unreadable requests in the metrics', async () => {
    const shown = rig([]);
    for (const [outcome, begins] of [
      ['banned', true],
      ['banned', false],
      ['limited', true],
    ])
      shown.metrics.admitted({ outcome, begins } as never);
    shown.metrics.stockChanged('reset');
    shown.metrics.refused(400);
    expect(await lines(shown, 'bans_total')).toEqual(['petstock_bans_total 1']);
    expect(await lines(shown, 'stock_operations_total')).toEqual([
      'petstock_stock_operations_total{operation="reset"} 1',
    ]);
    expect(await lines(shown, 'http_requests_total')).toEqual([
      'petstock_http_requests_total{method="other",route="other",status="400"} 1',
    ]);
  });
});
