import { expect, test } from 'vitest';
import { FailureError, UnavailableError } from '../../src/shared/errors.ts';
import { fileErrorReason, readErrorReason, replaceErrorReason } from '../../src/shared/file-error.ts';

test('an error with changes is of the same kind and keeps the rest', () => {
  const service = { code: 'down', message: 'Down.', status: 503 };
  const error = new UnavailableError('Down.', {
    status: 503,
    service,
    retryAfterSeconds: 7,
    hint: 'wait',
    lines: ['a'],
  });
  const changed = error.with({ message: 'Nothing was written: Down.', unsent: true, hint: undefined });
  expect(changed).toBeInstanceOf(UnavailableError);
  expect(changed).toMatchObject({
    name: 'UnavailableError',
    kind: 'unavailable',
    message: 'Nothing was written: Down.',
    status: 503,
    service,
    retryAfterSeconds: 7,
    lines: ['a'],
    unsent: true,
    mayStillArrive: false,
  });
  expect(changed.hint).toBeUndefined();
  expect(changed.cause).toBe(error);
  expect(error.unsent).toBe(false);
});

test('its cause is the first cause', () => {
  const cause = new Error('ENOSPC');
  expect(new FailureError('full', { cause }).with({ message: 'fuller' }).with({ unsent: true })).toMatchObject({
    message: 'fuller',
    unsent: true,
    cause,
  });
});

const failure = (code: string) => Object.assign(new Error('of the system'), { code });
const open = 'another program, such as Excel, has it open: close it there and try again';

test.each([
  ['EBUSY', open],
  ['EPERM', 'you have no permission to write there'],
  ['EWHAT', 'of the system'],
])('%s: %s', (code, reason) => {
  expect(fileErrorReason(failure(code))).toBe(reason);
});

test.each([
  ['EPERM', true, open],
  ['EACCES', true, open],
  ['EBUSY', true, open],
  ['EPERM', false, 'you have no permission to write there'],
  ['ENOSPC', true, 'the disk is full'],
])('a file that can not be replaced, %s, on Windows: %s', (code, isWindows, reason) => {
  expect(replaceErrorReason(failure(code), isWindows)).toBe(reason);
});

test.each([
  ['ENOENT', 'there is no such file'],
  ['EISDIR', 'it is a folder, not a file'],
  ['EACCES', 'you have no permission to read it'],
  ['EBUSY', open],
])('a file that can not be read, %s: %s', (code, reason) => {
  expect(readErrorReason(failure(code))).toBe(reason);
});
