import { expect, test } from 'vitest';
import { isClosed } from '../../bin/output.ts';

test.each([
  ['EPIPE', false, true],
  ['EPIPE', true, true],
  // On a terminal, EIO means that the terminal was closed; elsewhere, that a disk fails.
  ['EIO', true, true],
  ['EIO', false, false],
  ['ENOSPC', true, false],
])('decides whether %s means a closed stream (terminal: %s): %s', (code, isTerminal, closed) => {
  expect(isClosed(Object.assign(new Error(code), { code }), isTerminal)).toBe(closed);
});
