import { describe, expect, test } from 'vitest';
import { errorOfAnswer, parseServiceError } from '../../src/api/error-answer.ts';
import {
  AuthError,
  FailureError,
  NotFoundError,
  RateLimitedError,
  RejectedError,
  UnavailableError,
} from '../../src/shared/errors.ts';
import fc, { property } from '../support/seeded-fast-check.ts';

const body = (status: unknown) => `{"code":"some_code","message":"Some words.","status":${status}}`;

const classes = [
  [300, FailureError, 'failure', 'The service answered 300'],
  [304, FailureError, 'failure', 'The service answered 304'],
  [400, RejectedError, 'rejected', 'The service answered 400'],
  [401, AuthError, 'auth', 'The service did not accept the key'],
  [402, RejectedError, 'rejected', 'The service answered 402'],
  [403, RejectedError, 'rejected', 'The service answered 403'],
  [404, NotFoundError, 'not-found', 'The service answered 404'],
  [405, RejectedError, 'rejected', 'The service answered 405'],
  [409, RejectedError, 'rejected', 'The service answered 409'],
  [415, RejectedError, 'rejected', 'The service answered 415'],
  [429, RateLimitedError, 'rate-limited', 'The service answered 429'],
  [499, RejectedError, 'rejected', 'The service answered 499'],
  [500, UnavailableError, 'unavailable', 'The service answered 500'],
  [503, UnavailableError, 'unavailable', 'The service answered 503'],
  [599, UnavailableError, 'unavailable', 'The service answered 599'],
] as const;

test('the words of the service are cut, its code too', () => {
  const long = JSON.stringify({ code: 'c'.repeat(70_000), message: 'm'.repeat(70_000), status: 400 });
  const { service, message } = errorOfAnswer(400, long);
  expect(service).toEqual({ code: 'c'.repeat(1000), message: 'm'.repeat(1000), status: 400 });
  expect(message.length).toBeLessThan(1100);
});

describe.each(classes)('%i', (status, type, kind, plain) => {
  test('with an Error body it says what the service says', () => {
    const error = errorOfAnswer(status, body(status));
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject({
      kind,
      status,
      message: status < 500 ? 'Some words.' : `Some words. (${status})`,
      service: { code: 'some_code', message: 'Some words.', status },
    });
  });

  test.each([
    ['nothing', ''],
    ['HTML', '<html><body>Bad gateway</body></html>'],
    ['half an Error', '{"code":"some_code","mess'],
    ['an array', '[]'],
    ['null', 'null'],
    ['a string', '"no"'],
    ['a number', '5'],
    ['an object without words', '{"code":"some_code","status":400}'],
    ['an object without a code', '{"message":"Some words.","status":400}'],
    ['fields of other types', '{"code":1,"message":["Some words."],"status":400}'],
    ['100,000 levels', '['.repeat(100_000)],
    ['a name twice', '{"code":"a","code":"b","message":"m"}'],
  ])('with %s it says the status', (_what, text) => {
    const error = errorOfAnswer(status, text);
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject({ kind, status, message: plain });
    expect(error.service).toBeUndefined();
  });
});

describe('the status in an Error body', () => {
  test.each([
    // As the service sent it, even where it is not that of the answer.
    ['404', 404],
    ['422', 422],
    ['422.0', 422],
    // Whatever is no HTTP status: that of the answer.
    ['"404"', 400],
    ['null', 400],
    ['404.5', 400],
    ['0', 400],
    ['99', 400],
    ['600', 400],
    ['-1', 400],
    ['99999999999999999999', 400],
  ])('%s: %i', (told, expected) => {
    expect(parseServiceError(body(told), 400)?.status).toBe(expected);
  });

  test('missing: that of the answer', () => {
    expect(parseServiceError('{"code":"c","message":"m"}', 400)).toEqual({ code: 'c', message: 'm', status: 400 });
  });
});

test('an Error body without a word leaves the words to us', () => {
  const text = '{"code":"c","message":"","status":400}';
  expect(errorOfAnswer(400, text)).toMatchObject({ message: 'The service answered 400', service: { code: 'c' } });
});

property(
  'whatever the status and the body, there is an error with words, a status and an exit code',
  [fc.integer({ min: 300, max: 599 }), fc.oneof(fc.string(), fc.json())],
  (status, text) => {
    const error = errorOfAnswer(status, text);
    expect(error.message).not.toBe('');
    expect(error.status).toBe(status);
  },
);
