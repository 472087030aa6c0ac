import { expect, test } from 'vitest';
import { fileErrorReason, readErrorReason, replaceErrorReason } from '../../src/shared/file-error.ts';

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
