import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { generateKey } from '../../src/service/index.ts';
import { outcome, rate, start, temporaryFile } from './support.ts';

test('401 without a key asks for one', async () => {
  const answer = await (await start()).get('/inventory', { key: null });
  expect(answer.json).toEqual({ code: 'missing_api_key', message: expect.any(String), status: 401 });
  expect(answer.headers['www-authenticate']).toBe('Bearer');
});

test('401 with a wrong key says that the token is invalid', async () => {
  const answer = await (await start()).get('/inventory', { key: generateKey() });
  expect(answer.json).toEqual({ code: 'invalid_api_key', message: expect.any(String), status: 401 });
  expect(answer.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
});

test.each([
  ['bearer <key>', '200'],
  ['BEARER   <key>', '200'],
  ['Bearer <key>x', '401 invalid_api_key'],
  ['Bearer <key> <key>', '401 invalid_api_key'],
  ['Bearer', '401 missing_api_key'],
  ['Bearer ', '401 missing_api_key'],
  ['<key>', '401 missing_api_key'],
  ['Basic <key>', '401 missing_api_key'],
])('Authorization: %s gives %s', async (authorization, expected) => {
  const service = await start();
  const headers = { Authorization: authorization.replaceAll('<key>', service.key) };
  expect(outcome(await service.get('/inventory', { key: null, headers }))).toBe(expected);
});

test('an unknown address needs a key like any other', async () => {
  const service = await start();
  expect(outcome(await service.get('/nowhere', { key: null }))).toBe('401 missing_api_key');
  expect(outcome(await service.call('OPTIONS', '/inventory', { key: null }))).toBe('401 missing_api_key');
});

test('requests without a valid key use up the bucket of the address, never the quota of a key', async () => {
  const service = await start({ plan: 'free' });
  expect(rate(await service.get('/inventory'))).toMatch(/^60\/59\//);
  for (let sent = 0; sent < 60; sent++) await service.get('/inventory', { key: sent % 2 === 0 ? null : 'psk_wrong' });
  const refused = await service.get('/inventory', { key: null });
  expect(outcome(refused)).toBe('429 rate_limited');
  expect(refused.headers['retry-after']).toBe('60');
  expect(rate(await service.get('/inventory'))).toMatch(/^60\/58\//);
});

test('nothing is written for a request without a valid key', async () => {
  const service = await start();
  const before = (await service.get('/inventory')).text;
  expect(outcome(await service.patch('/inventory/1', '{"quantity":4711}', { key: 'psk_wrong' }))).toMatch(/^401/);
  expect((await service.get('/inventory')).text).toBe(before);
});

test('a key is psk_, 30 random characters and a checksum of 6', () => {
  const keys = Array.from({ length: 100 }, generateKey);
  for (const key of keys) expect(key).toMatch(/^psk_[0-9A-Za-z]{36}$/);
  expect(new Set(keys).size).toBe(100);
});

test('the file holds the digest of a key and not the key', async () => {
  const file = temporaryFile();
  const service = await start({ file });
  await service.close();
  const bytes = Buffer.concat([file, `${file}-wal`].map((path) => readFileSync(path)));
  expect(bytes.includes(service.key)).toBe(false);
  expect(bytes.includes(createHash('sha256').update(service.key).digest())).toBe(true);
});
