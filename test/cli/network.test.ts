import { expect } from 'vitest';
import { test } from '../support/shop.ts';

test('a service that is down: exit 5, after five tries', async ({ shop }) => {
  const env = { PETSTOCK_URL_STAGING: 'http://127.0.0.1:1/v1' };
  const { stdout, stderr } = await shop.exits('inventory list --debug', 5, 'ECONNREFUSED', { env });
  expect(stdout).toBe('');
  expect(stderr.match(/^> GET /gm)).toHaveLength(5);
  expect(stderr.match(/^< failed GET /gm)).toHaveLength(5);
  // Four waits of at most 0.5, 1, 2 and 4 s.
  expect(shop.clock.sleeps.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(7500);
});

test('an address that speaks no TLS is named in words, and not in those of OpenSSL', async ({ shop }) => {
  const env = { PETSTOCK_URL_STAGING: shop.service.url.replace('http:', 'https:') };
  const words = 'no TLS connection can be made (wrong version number)';
  const { stderr } = await shop.exits('inventory list', 5, words, { env });
  expect(stderr).not.toMatch(/openssl|routines|:error:/i);
});

const short = 'The system gives petstock no more memory.';
/** What V8 throws at the first connection of a process whose addresses are limited, and what it throws later. */
const atConnection = 'WebAssembly.Instance(): Out of memory: Cannot allocate Wasm memory for new instance';
const later = 'Array buffer allocation failed';

test.for([
  ['inventory list', atConnection, 1, short],
  ['inventory list', later, 1, short],
  ['inventory list', 'Out of memory', 1, short],
  ['inventory list', 'Invalid array length', 1, 'This is a bug in petstock'],
  // It was certainly not sent.
  ['inventory set 4 12 --read-first', atConnection, 1, short],
  ['inventory set 4 12', atConnection, 1, short],
  ['inventory set 4 12', later, 8, 'It is not known whether'],
] as const)('%s for which memory is short (%s) is exit %i: %s', async ([command, message, code, said], { shop }) => {
  const around = async () => {
    throw new RangeError(message);
  };
  const { stdout, stderr } = await shop.exits(command, code, said, { around });
  expect(stdout).toBe('');
  for (const other of ['a bug', 'not known']) expect(stderr.includes(other), stderr).toBe(said.includes(other));
});
