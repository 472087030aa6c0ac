import { expect, test } from 'vitest';
import { FailureError, fileErrorReason, readErrorReason, UnavailableError } from '../../src/shared/errors.ts';

test('keeps the kind and the details when an error is changed', () => {
  const service = { code: 'down', message: 'Down.', status: 503 };
  const kept = { status: 503, serviceError: service, retryAfterSeconds: 7, lines: ['a'] };
  const error = new UnavailableError('Down.', { ...kept, hint: 'wait' });
  const changed = error.with({ message: 'Nothing was written: Down.', notCarriedOut: true, hint: undefined });
  expect(changed).toBeInstanceOf(UnavailableError);
  expect(changed).toMatchObject({
    ...kept,
    name: 'UnavailableError',
    kind: 'unavailable',
    message: 'Nothing was written: Down.',
    notCarriedOut: true,
    mayBeInFlight: false,
  });
  expect([changed.hint, changed.cause, error.notCarriedOut]).toEqual([undefined, error, false]);
});

test('keeps the first cause when an error is changed twice', () => {
  const cause = new Error('ENOSPC');
  const changed = new FailureError('full', { cause }).with({ message: 'fuller' }).with({ notCarriedOut: true });
  expect(changed).toMatchObject({ message: 'fuller', notCarriedOut: true, cause });
});

const failure = (code: string) => Object.assign(new Error('of the system'), { code });
const open = 'another program, such as Excel, has it open: close it there and try again';

const mayNotWrite = 'you have no permission to write there';

test.each([
  ["can't be written", 'EBUSY', fileErrorReason, open],
  ["can't be written", 'EPERM', fileErrorReason, mayNotWrite],
  ["can't be written", 'EWHAT', fileErrorReason, 'of the system'],
  ["can't be read", 'ENOENT', readErrorReason, 'there is no such file'],
  ["can't be read", 'EISDIR', readErrorReason, 'it is a folder, not a file'],
  ["can't be read", 'EACCES', readErrorReason, 'you have no permission to read it'],
  ["can't be read", 'EBUSY', readErrorReason, open],
])('explains why a file %s: %s', (_what, code, reasonOf, reason) => expect(reasonOf(failure(code))).toBe(reason));
