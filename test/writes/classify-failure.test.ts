import { expect, test } from 'vitest';
import {
  AuthError,
  CertificateError,
  FailureError,
  InterruptedError,
  NonRetryableError,
  NotFoundError,
  RateLimitedError,
  UnavailableError,
} from '../../src/shared/errors.ts';
import { classifyFailure, type Failure, rowErrorOf } from '../../src/writes/classify-failure.ts';

const plain = { stop: false, mayBeInFlight: false };
const unsent = { notCarriedOut: true };

test.each<[string, unknown, Partial<Failure>]>([
  ['a defect', new TypeError('oops'), { kind: 'unknown', stop: true, mayBeInFlight: true }],
  ['a key that is not accepted', new AuthError('no', { status: 401 }), { kind: 'notSent', stop: true }],
  ["a service that can't be reached", new UnavailableError('away', unsent), { kind: 'notSent' }],
  ['a certificate that is not trusted', new CertificateError('whose?', unsent), { kind: 'notSent', stop: true }],
  ['a proxy that wants a password', new NonRetryableError('who?', unsent), { kind: 'notSent', stop: true }],
  ['a 429', new RateLimitedError('later', { status: 429, ...unsent }), { kind: 'notSent' }],
  ['Ctrl-C before a request is sent', new InterruptedError('stopped', unsent), { kind: 'notSent', stop: true }],
  ['a full disk before a request is sent', new FailureError('full', unsent), { kind: 'notSent', stop: true }],
  ['a 404', new NotFoundError('gone', { status: 404 }), { kind: 'refused' }],
  ['a redirect', new FailureError('there', { status: 307 }), { kind: 'unknown', stop: true }],
  ['a 500', new UnavailableError('broken', { status: 500 }), { kind: 'unknown' }],
  ['a connection that broke', new UnavailableError('reset'), { kind: 'unknown' }],
  ['a time-out', new UnavailableError('slow', { mayBeInFlight: true }), { kind: 'unknown', mayBeInFlight: true }],
  ['Ctrl-C while a request is in flight', new InterruptedError('stopped'), { kind: 'unknown', stop: true }],
])('classifies the failure of a write by its error: %s', (_what, error, expected) =>
  expect(classifyFailure(error)).toEqual({ ...plain, ...expected }),
);

test("reports a row's error in the service's words, or else in petstock's own", () => {
  const serviceError = { code: 'no_pet', message: 'No such pet.', status: 404 };
  expect(rowErrorOf(new NotFoundError('gone', { status: 404, serviceError }))).toEqual(serviceError);
  expect(rowErrorOf(new UnavailableError('away'))).toEqual({ code: 'unavailable', message: 'away' });
  expect(rowErrorOf(new TypeError('oops'))).toEqual({ code: 'failure', message: 'oops' });
  expect(rowErrorOf('odd')).toEqual({ code: 'failure', message: 'odd' });
});
