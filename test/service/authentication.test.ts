import { expect } from 'vitest';
import { generateKey } from '../../src/service/index.ts';
import { NOON, outcome, rate, start, test } from './support.ts';

test.for([
  ['bearer <key>', '200'],
  ['BEARER   <key>', '200'],
  ['Bearer <key>x', '401 invalid_api_key'],
  ['Bearer <key> <key>', '401 invalid_api_key'],
  ['Bearer', '401 missing_api_key'],
  ['Bearer ', '401 missing_api_key'],
  ['<key>', '401 missing_api_key'],
  ['Basic <key>', '401 missing_api_key'],
] as const)('Authorization: %s gives %s', async ([authorization, expected], { service }) => {
  const headers = { Authorization: authorization.replaceAll('<key>', service.key) };
  expect(outcome(await service.get('/inventory', { key: null, headers }))).toBe(expected);
});

test('without a valid key it is 401 for as long as anybody asks, and never the quota of a key', async () => {
  const service = await start({ plan: 'free' });
  expect(rate(await service.get('/inventory'))).toMatch(/^60\/59\//);
  const seen = new Set<string>();
  for (let sent = 0; sent < 600; sent++) {
    seen.add(outcome(await service.get('/store/orders', { key: sent % 2 === 0 ? null : 'psk_wrong' })));
  }
  expect(seen).toEqual(new Set(['401 missing_api_key', '401 invalid_api_key']));
  const flood = await service.get('/inventory', { key: null });
  expect([outcome(flood), flood.headers['retry-after']]).toEqual(['429 address_rate_limited', '60']);
  expect(rate(flood)).toBe(`600/0/${(NOON + 60_000) / 1000}`);
  expect(rate(await service.get('/inventory'))).toMatch(/^60\/58\//);
  service.clock.advance(60_000);
  expect(outcome(await service.get('/inventory', { key: null }))).toBe('401 missing_api_key');
});

test.each([
  [3, [401, 401, 401, 429, 429]],
  [0, [429, 429]],
  [false, [401, 401, 401, 401, 401]],
] as const)('with the limit of an address at %s, the answers are %j', async (addressLimit, expected) => {
  const service = await start({ addressLimit });
  for (const status of expected) expect((await service.get('/inventory', { key: null })).status).toBe(status);
});

test('a key is psk_, 30 random characters and a checksum of 6', () => {
  const keys = Array.from({ length: 100 }, generateKey);
  for (const key of keys) expect(key).toMatch(/^psk_[0-9A-Za-z]{36}$/);
  expect(new Set(keys).size).toBe(100);
});
