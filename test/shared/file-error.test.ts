import { expect, test } from 'vitest';
import { fileErrorReason, replaceErrorReason } from '../../src/shared/file-error.ts';

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
