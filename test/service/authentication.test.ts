import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { generateKey, issueKey, type KeyGrant, openStorage } from '../../src/service/index.ts';
import { idOfKey } from '../../src/service/keys/key.ts';
import { UNUSED } from '../../src/service/limits/admission.ts';
import { NOON, outcome, rate, start, TestClock, test } from './support.ts';

test.for([
  ['bearer <key>', '200'],
  ['BEARER   <key>', '200'],
  ['Bearer <key>x', '401 invalid_api_key'],
  ['Bearer <key> <key>', '401 invalid_api_key'],
  ['Bearer', '401 missing_api_key'],
  ['Bearer ', '401 missing_api_key'],
  ['<key>', '401 missing_api_key'],
  ['Basic <key>', '401 missing_api_key'],
] as const)('answers Authorization: %s with %s', async ([authorization, expected], { service }) => {
  const headers = { Authorization: authorization.replaceAll('<key>', service.key) };
  expect(outcome(await service.get('/inventory', { key: null, headers }))).toBe(expected);
});

test('rejects requests without a valid key with 401, and limits them per address', async () => {
  const service = await start({ plan: 'free' });
  expect(rate(await service.get('/inventory'))).toMatch(/^60\/59\//);
  const keys = Array.from({ length: 600 }, (_, index) => (index % 2 === 0 ? null : 'psk_wrong'));
  const answers = await Promise.all(keys.map((key) => service.get('/store/orders', { key })));
  expect(new Set(answers.map(outcome))).toEqual(new Set(['401 missing_api_key', '401 invalid_api_key']));
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
] as const)('limits requests without a key from one address to %s: %j', async (addressLimit, expected) => {
  const service = await start({ addressLimit });
  for (const status of expected) expect((await service.get('/inventory', { key: null })).status).toBe(status);
});

test('generates 100 different keys that consist of psk_ and 36 characters', () => {
  const keys = Array.from({ length: 100 }, generateKey);
  for (const key of keys) expect(key).toMatch(/^psk_[0-9A-Za-z]{36}$/);
  expect(new Set(keys).size).toBe(100);
});

const huge = { minute: 2n ** 63n - 2n, day: 2n ** 63n - 1n };

test.for<readonly [KeyGrant, object, string]>([
  ['free', { plan: 'free', limits: { minute: 60n, day: 1_000n } }, '60/59/'],
  ['pro', { plan: 'pro', limits: { minute: 300n, day: 10_000n } }, '300/299/'],
  ['business', { plan: 'business', limits: { minute: 1_000n, day: 100_000n } }, '1000/999/'],
  [huge, { plan: 'enterprise', limits: huge }, '9223372036854775806/9223372036854775805/'],
])('accepts a key issued for %o at once, and stores only its digest', async (row, { file }) => {
  const [grant, entitlement, shown] = row;
  const service = await start({ file });
  const storage = await openStorage({ file, clock: new TestClock() });
  const { key, record } = await issueKey(storage, grant).finally(() => storage.close());
  const known = { usage: UNUSED, id: idOfKey(key), createdAt: NOON, revokedAt: null, origin: null, name: null };
  expect(record).toEqual({ ...known, ...entitlement });
  expect(rate(await service.get('/inventory', { key }))).toContain(shown);
  const bytes = Buffer.concat([file, `${file}-wal`].map((path) => readFileSync(path)));
  const digest = createHash('sha256').update(key).digest();
  expect([bytes.includes(key), bytes.includes(digest)]).toEqual([false, true]);
});
