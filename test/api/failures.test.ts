import { expect, test } from 'vitest';
import { describe as describeFault, errorOfResponse, parseServiceError } from '../../src/api/failures.ts';
import fc, { property } from '../support/properties.ts';

const body = (status: unknown) => `{"code":"some_code","message":"Some words.","status":${status}}`;

/** Bodies that are not an Error body. */
const others = [
  ['nothing', ''],
  ['HTML', '<html><body>Bad gateway</body></html>'],
  ['half an Error', '{"code":"some_code","mess'],
  ['an array', '[]'],
  ['null', 'null'],
  ['a string', '"no"'],
  ['a number', '5'],
  ['an object without a message', '{"code":"some_code","status":400}'],
  ['an object without a code', '{"message":"Some words.","status":400}'],
  ['fields of other types', '{"code":1,"message":["Some words."],"status":400}'],
  ['100,000 levels', '['.repeat(100_000)],
  ['a name twice', '{"code":"a","code":"b","message":"m"}'],
] as const;

test.each<readonly [number, string, string]>([
  ...[300, 304].map((status) => [status, 'FailureError', 'failure'] as const),
  [401, 'AuthError', 'auth'],
  [404, 'NotFoundError', 'not-found'],
  [429, 'RateLimitedError', 'rate-limited'],
  ...[400, 402, 403, 405, 409, 415, 499].map((status) => [status, 'RejectedError', 'rejected'] as const),
  ...[500, 503, 599].map((status) => [status, 'UnavailableError', 'unavailable'] as const),
])('converts %i into %s (%s), and keeps the Error body in serviceError', (status, name, kind) => {
  const service = { code: 'some_code', message: 'Some words.', status };
  const message = status === 401 ? 'The service did not accept the key' : `The service returned ${status}`;
  const expected = { name, kind, status, message };
  expect(errorOfResponse(status, body(status))).toMatchObject({ ...expected, serviceError: service });
  for (const [what, text] of others) {
    expect(errorOfResponse(status, text), what).toMatchObject({ ...expected, serviceError: undefined });
  }
});

test("truncates the service's message and code to 1,000 characters", () => {
  const long = JSON.stringify({ code: 'c'.repeat(70_000), message: 'm'.repeat(70_000), status: 400 });
  const { serviceError, message } = errorOfResponse(400, long);
  expect(serviceError).toEqual({ code: 'c'.repeat(1000), message: 'm'.repeat(1000), status: 400 });
  expect(message.length).toBeLessThan(1100);
});

test.each<readonly [string, number]>([
  // A valid status in the body counts, even if the response has another.
  ['404', 404],
  ['422', 422],
  ['422.0', 422],
  // Otherwise, the status of the response counts.
  ...['"404"', 'null', '404.5', '0', '99', '600', '-1', '99999999999999999999'].map((told) => [told, 400] as const),
])('reads the status %s in the Error body of a 400 as %i', (told, expected) => {
  expect(parseServiceError(body(told), 400)?.status).toBe(expected);
});

test("falls back to the response's status and petstock's message if the Error body lacks them", () => {
  expect(parseServiceError('{"code":"c","message":"m"}', 400)).toEqual({ code: 'c', message: 'm', status: 400 });
  const error = errorOfResponse(400, '{"code":"c","message":"","status":400}');
  expect(error).toMatchObject({ message: 'The service returned 400', serviceError: { code: 'c' } });
});

property(
  "turns any body into an error with a message and the response's status",
  [fc.integer({ min: 300, max: 599 }), fc.oneof(fc.string(), fc.json())],
  (status, text) => {
    const error = errorOfResponse(status, text);
    expect(error.message).not.toBe('');
    expect(error.status).toBe(status);
  },
);

test.each<[string, { readonly message?: string; readonly code?: string }, string]>([
  [
    'names from a certificate',
    { message: "Host: localhost. is not cert's CN: x. Error: All 24 pets", code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
    'it is for another host',
  ],
  [
    'source positions of OpenSSL',
    { message: '80A2C64:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../deps/x.c:354:\n' },
    'no TLS connection can be made (wrong version number)',
  ],
  ['an empty message', { message: '', code: 'ECONNREFUSED' }, 'ECONNREFUSED'],
  ['no message and no code', {}, 'Error'],
])('describes a network fault in plain words if it has %s', (_, details, text) => {
  expect(describeFault(Object.assign(new Error(), details))).toBe(text);
  expect(describeFault(new AggregateError([Object.assign(new Error(), details)]))).toBe(text);
});
