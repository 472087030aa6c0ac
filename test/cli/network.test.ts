import { expect } from 'vitest';
import { test } from '../support/shop.ts';

test('a service that is down: exit 5, after five tries', async ({ shop }) => {
  const env = { PETSTOCK_URL_STAGING: 'http://127.0.0.1:1/v1' };
  const { code, stdout, stderr } = await shop.run('inventory list --debug', { env });
  expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
  expect(stderr).toContain('ECONNREFUSED');
  expect(stderr.match(/^> GET /gm)).toHaveLength(5);
  expect(stderr.match(/^< failed GET /gm)).toHaveLength(5);
  // Four waits of at most 0.5, 1, 2 and 4 s.
  expect(shop.clock.sleeps.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(7500);
});

test('an address that speaks no TLS is named in words, and not in those of OpenSSL', async ({ shop }) => {
  const env = { PETSTOCK_URL_STAGING: shop.service.url.replace('http:', 'https:') };
  const result = await shop.run('inventory list', { env });
  expect(result.code).toBe(5);
  expect(result.stderr).toContain('no TLS connection can be made (wrong version number)');
  expect(result.stderr).not.toMatch(/openssl|routines|:error:/i);
});
