import { expect } from 'vitest';
import { test } from '../support/shop.ts';

/** What V8 throws at the first connection of a process whose addresses are limited, and what it throws later. */
const atConnection = 'WebAssembly.Instance(): Out of memory: Cannot allocate Wasm memory for new instance';
const later = 'Array buffer allocation failed';

const short = (message: string) => ({
  around: async () => {
    throw new RangeError(message);
  },
});

test('memory that is short is said to be just that', async ({ shop }) => {
  for (const message of [atConnection, later, 'Out of memory']) {
    const { code, stdout, stderr } = await shop.run('inventory list', short(message));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('Error: The system gives petstock no more memory.');
    expect(stderr).not.toContain('bug');
  }
});

test('a write for whose connection memory is short was certainly not sent', async ({ shop }) => {
  const { code, stderr } = await shop.run('inventory set 4 12 --read-first', short(atConnection));
  expect(code).toBe(1);
  expect(stderr).not.toContain('not known');
  const plain = await shop.run('inventory set 4 12', short(atConnection));
  expect(plain.code).toBe(1);
  expect(plain.stderr).toContain('The system gives petstock no more memory.');
  expect(plain.stderr).not.toContain('not known');
});

test('a write that may have been sent when memory was short is of unknown outcome', async ({ shop }) => {
  const { code, stderr } = await shop.run('inventory set 4 12', short(later));
  expect(code).toBe(8);
  expect(stderr).toContain('It is not known whether');
});

test('any other error of a range is still a mistake of ours', async ({ shop }) => {
  const { code, stderr } = await shop.run('inventory list', short('Invalid array length'));
  expect(code).toBe(1);
  expect(stderr).toContain('This is a bug in petstock');
});
