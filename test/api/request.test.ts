import { describe, expect, test } from 'vitest';
import { errorOf } from '../../src/api/failures.ts';
import { type SendOptions, send, sendOnce } from '../../src/api/request.ts';
import type { ReceivedResponse } from '../../src/api/response.ts';
import type { HttpRequest, HttpResponse } from '../../src/api/transport.ts';
import { type Permit, PermitExpiredError, type ResponseHead } from '../../src/rate-limit/permits.ts';
import { FailureError, InterruptedError, RateLimitedError, UnavailableError } from '../../src/shared/errors.ts';
import { createTestClock } from '../support/clock.ts';

const baseUrl = 'https://stock.example/v1';
const url = `${baseUrl}/inventory/7`;
type Step = (request: HttpRequest) => HttpResponse;

/** Returns a step that responds; `broken` is the error with which the body breaks off. */
const answer =
  (status: number, headers: Record<string, string> = {}, body = '', broken?: object): Step =>
  ({ leaving, arriving }) => {
    leaving?.();
    arriving?.();
    const chunks = async function* () {
      yield Buffer.from(body);
      if (broken !== undefined) throw Object.assign(new Error('it broke'), broken);
    };
    return { status, headers, body: chunks(), discard: () => {} };
  };

/** Returns a step that fails, perhaps after the request was sent or the first byte of a response arrived. */
const fault =
  (details: object, reached: 'connecting' | 'leaving' | 'arriving' = 'leaving'): Step =>
  ({ leaving, arriving }) => {
    if (reached !== 'connecting') leaving?.();
    if (reached === 'arriving') arriving?.();
    throw Object.assign(new Error('it broke'), details);
  };
const proxyRefused = (status: number, headers = {}) =>
  fault({ code: 'EPROXY', refusal: { status, headers: { 'x-ratelimit-remaining': '0', ...headers } } }, 'connecting');

/** Returns options whose transport takes these steps, without a network; `told` records the calls of the permit. */
function createRig(steps: readonly Step[], changes: Partial<SendOptions> = {}) {
  const told: string[] = [];
  const recorded: ResponseHead[] = [];
  const sent: string[] = [];
  const clock = createTestClock();
  const permit: Permit = {
    beginSend: () => told.push('begin'),
    recordResponse: (head) => {
      told.push('record');
      recorded.push({ status: head.status, headers: { ...head.headers } });
      const asked = head.headers['retry-after'];
      return { retryAfter: asked === undefined ? undefined : Number(asked) * 1000, persisted: Promise.resolve() };
    },
    forfeit: async () => void told.push('forfeit'),
    release: async () => void told.push('release'),
  };
  const options: SendOptions = {
    baseUrl,
    clock,
    timeout: 30_000,
    interrupted: new AbortController().signal,
    redact: (text) => text,
    random: () => 0.5,
    limits: { admitOne: async () => permit },
    transport: async (request) => {
      sent.push(`${request.method} ${request.url}`);
      const step = steps[Math.min(sent.length, steps.length) - 1];
      if (step === undefined) throw new Error('a request too many');
      return step(request);
    },
    ...changes,
  };
  return { permit, options, told, recorded, sent, clock };
}

const use = async (answer: ReceivedResponse) => {
  await answer.text({ most: 1000, of: 'it' });
  return answer.status;
};
const patch = { method: 'PATCH', url, headers: {}, kind: 'write' as const };
const get = { ...patch, method: 'GET', kind: 'repeatable' as const };
const unsent = { notCarriedOut: true, mayBeInFlight: false };
const onItsWay = { notCarriedOut: false, mayBeInFlight: true };
const neither = { notCarriedOut: false, mayBeInFlight: false };
const unreachable = "Can't reach the service at https://stock.example: it broke";
const failed = 'The request to the service at https://stock.example failed: it broke';
const unreadable = "The response header of the service at https://stock.example can't be read: it broke";
const untrusted =
  'The certificate of the service at https://stock.example is not trusted: it broke. The request was not sent';
const garbled = [{ status: 503, headers: { 'retry-after': '60' } }];
const authority = "petstock config set ca-file '<file with the certificate of its authority>'";

describe('one request that fails', () => {
  test.each<[string, Step, object, string[], ResponseHead[]]>([
    ...[
      { code: 'ECONNREFUSED' },
      { code: 'ENOTFOUND' },
      { code: 'EPROTO' },
      { code: 'EPERM', syscall: 'connect' },
      { code: 'EADDRNOTAVAIL', syscall: 'connect' },
      { code: 'EMFILE', syscall: 'socket' },
      { code: 'ECONNRESET', syscall: 'read' },
    ].map((details): [string, Step, object, string[], ResponseHead[]] => [
      `${details.code} before there is a connection`,
      fault(details, 'connecting'),
      { message: unreachable, name: 'UnavailableError', ...unsent },
      ['release'],
      [],
    ]),
    ['ECONNREFUSED of an open connection', fault({ code: 'ECONNREFUSED' }), onItsWay, ['begin', 'forfeit'], []],
    ['a reset', fault({ code: 'ECONNRESET' }), { message: failed, ...onItsWay }, ['begin', 'forfeit'], []],
    [
      'another protocol',
      fault({ code: 'EUPGRADE' }, 'arriving'),
      { message: failed, ...neither },
      ['begin', 'forfeit'],
      [],
    ],
    [
      'half a head',
      fault({ code: 'ECONNRESET' }, 'arriving'),
      { message: unreadable, retryAfterSeconds: undefined, ...onItsWay },
      ['begin', 'record'],
      garbled,
    ],
    [
      'a head that is too long',
      fault({ code: 'UND_ERR_HEADERS_OVERFLOW' }, 'arriving'),
      { name: 'FailureError', ...onItsWay },
      ['begin', 'record'],
      garbled,
    ],
    [
      "a head that can't be parsed",
      fault({ name: 'HTTPParserError' }, 'arriving'),
      { message: unreadable, ...onItsWay },
      ['begin', 'record'],
      garbled,
    ],
    [
      'no HTTP',
      fault({ name: 'HTTPParserError', message: 'Expected HTTP/' }, 'arriving'),
      onItsWay,
      ['begin', 'forfeit'],
      [],
    ],
    [
      'an expired certificate',
      fault({ code: 'CERT_HAS_EXPIRED' }, 'connecting'),
      { message: untrusted, name: 'CertificateError', hint: 'openssl s_client -connect stock.example:443', ...unsent },
      ['release'],
      [],
    ],
    [
      'another authority',
      fault({ code: 'SELF_SIGNED_CERT_IN_CHAIN' }, 'connecting'),
      { message: untrusted, hint: authority, ...unsent },
      ['release'],
      [],
    ],
    [
      '429 of a proxy',
      proxyRefused(429, { 'retry-after': '7' }),
      { name: 'RateLimitedError', message: 'it broke', retryAfterSeconds: 7, ...unsent },
      ['record'],
      [{ status: 429, headers: { 'retry-after': '7' } }],
    ],
    [
      '429 of a proxy without a wait',
      proxyRefused(429),
      { name: 'RateLimitedError', retryAfterSeconds: undefined, ...unsent },
      ['record'],
      [{ status: 429, headers: { 'retry-after': undefined } }],
    ],
    [
      '503 of a proxy',
      proxyRefused(503, { 'retry-after': '7' }),
      { name: 'UnavailableError', message: unreachable, ...unsent },
      ['record'],
      [{ status: 503, headers: { 'retry-after': '7' } }],
    ],
    [
      '403 of a proxy',
      proxyRefused(403, { 'retry-after': '7' }),
      { name: 'UnavailableError', ...unsent },
      ['record'],
      [{ status: 403, headers: { 'retry-after': '7' } }],
    ],
    [
      'a password for a proxy',
      fault({ code: 'EPROXYAUTH' }, 'connecting'),
      { name: 'NonRetryableError', ...unsent },
      ['release'],
      [],
    ],
    [
      'a reset in the body',
      answer(200, {}, 'x', { code: 'ECONNRESET' }),
      {
        name: 'UnavailableError',
        message: "The response from the service at https://stock.example can't be read completely: it broke",
        ...neither,
      },
      ['begin', 'record'],
      [{ status: 200, headers: {} }],
    ],
    [
      'a file that is missing',
      () => {
        throw new FailureError('no file', unsent);
      },
      { name: 'FailureError', message: 'no file', ...unsent },
      ['release'],
      [],
    ],
    ['a bug', fault({}), { name: 'Error', message: 'it broke' }, ['begin', 'forfeit'], []],
  ])(
    'reports whether a request may be in flight after %s, and ends its permit',
    async (_what, step, facts, told, recorded) => {
      const rig = createRig([step]);
      await expect(sendOnce({ ...patch, permit: rig.permit }, rig.options, use)).rejects.toMatchObject(facts);
      expect(rig.told).toEqual(told);
      expect(rig.recorded).toEqual(recorded);
    },
  );

  test('releases a permit that expires before its request is sent', async () => {
    const { permit, options, told } = createRig([fault({})]);
    const beginSend = () => {
      throw new PermitExpiredError();
    };
    const sent = sendOnce({ ...get, permit: { ...permit, beginSend } }, options, use);
    await expect(sent).rejects.toThrow(PermitExpiredError);
    expect(told).toEqual(['release']);
  });

  test('releases the permit of an interrupted request without sending the request', async () => {
    const interrupted = AbortSignal.abort(new InterruptedError('Ctrl-C'));
    const { permit, options, told, sent } = createRig([answer(200)], { interrupted });
    await expect(sendOnce({ ...get, permit }, options, use)).rejects.toThrow('Ctrl-C');
    expect([told, sent]).toEqual([['release'], []]);
  });
});

describe('the facts about all attempts of a request', () => {
  const moved = answer(307, { location: '/v1/stock/7' });
  const refused = answer(429, { 'retry-after': '1' });
  const lost = fault({ code: 'ECONNREFUSED' }, 'connecting');
  const reset = fault({ code: 'ECONNRESET' });
  const expired: Step = () => {
    throw new PermitExpiredError();
  };

  test.each<[string, object, Step[], object, number]>([
    ['only failed connections', patch, [lost], unsent, 5],
    ['refusals and failed connections', patch, [refused, refused, lost], unsent, 7],
    ['a redirect', patch, [moved, lost], neither, 6],
    ['a reset', patch, [lost, reset], onItsWay, 2],
    ['a reset of a read', get, [reset, lost], onItsWay, 5],
    ['a 500 of a read', get, [answer(500), lost], neither, 5],
    ['a 503 of a read', get, [answer(503), lost], neither, 5],
    ['a 520 of a read', get, [answer(520), lost], onItsWay, 5],
    ['a 505 of a read', get, [answer(505)], { status: 505, ...neither }, 1],
    ['a permit that expires', patch, [expired, expired, lost], unsent, 7],
    ['a reset and a 500 of a read', get, [reset, answer(500)], { status: 500, ...onItsWay }, 5],
    ['a 501 of a read', get, [answer(501)], { status: 501, ...neither }, 1],
    ['a proxy that wants a password', get, [fault({ code: 'EPROXYAUTH' }, 'connecting')], unsent, 1],
    [
      'too many redirects',
      get,
      [moved],
      { message: `The service redirected more than 5 times, last to ${baseUrl}/stock/7`, ...neither },
      6,
    ],
    ['a 500', patch, [answer(500)], { status: 500, ...neither }, 1],
    ['a 504', patch, [answer(504)], { status: 504, ...onItsWay }, 1],
    ['a bug after a reset', get, [reset, fault({})], { name: 'Error' }, 2],
  ])('combines the facts about all attempts in one error: %s', async (_what, request, steps, facts, count) => {
    const { options, sent } = createRig(steps);
    const outgoing = { ...patch, ...request };
    const use = async (response: ReceivedResponse) => {
      if (response.status >= 500) throw await errorOf(response);
    };
    await expect(send(outgoing, options, use)).rejects.toMatchObject(facts);
    expect(sent).toHaveLength(count);
  });

  const body = '{"code":"c","message":"Some words.","status":429}';
  const rateLimited = new RateLimitedError('the gate', { retryAfterSeconds: 9 });
  const unavailable = new UnavailableError('the gate', { retryAfterSeconds: 9 });
  test.each<[string, Step, Error, object]>([
    [
      'a 429',
      answer(429, {}, body),
      rateLimited,
      {
        message: 'The service returned 429',
        status: 429,
        retryAfterSeconds: 9,
        serviceError: { message: 'Some words.' },
      },
    ],
    [
      'a 503',
      answer(503, {}, body),
      unavailable,
      {
        message: 'The service returned 503',
        status: 503,
        retryAfterSeconds: 9,
        cause: unavailable,
        serviceError: { message: 'Some words.' },
      },
    ],
    [
      'a 503 and a spent rate limit',
      answer(503, {}, body),
      rateLimited,
      { message: 'the gate', status: undefined, retryAfterSeconds: 9 },
    ],
    [
      'a 429 without a wait',
      answer(429, {}, body),
      new RateLimitedError('the gate'),
      { message: 'the gate', status: undefined },
    ],
    ['a 429 and a bug', answer(429, {}, body), new Error('the gate'), { message: 'the gate' }],
  ])('reports either the last response or why no retry was admitted, after %s', async (_what, step, closed, facts) => {
    const { options, permit } = createRig([step]);
    const admit = async () => {
      throw closed;
    };
    const closing = { ...options, limits: { admitOne: admit } };
    await expect(send({ ...get, permit }, closing, use)).rejects.toMatchObject(facts);
    await expect(send(get, closing, use)).rejects.toMatchObject({ message: 'the gate' });
  });

  test('does not retry if the caller wants one attempt, and passes on a failure', async () => {
    const { options, sent } = createRig([refused, answer(502)]);
    await expect(send({ ...get, once: true }, options, use)).rejects.toMatchObject({ status: 429 });
    expect(await send({ ...get, once: true }, options, use)).toBe(502);
    expect(sent).toHaveLength(2);
  });
});
