import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { expect } from 'vitest';
import { generateKey } from '../../src/service/index.ts';
import { addressBuckets } from '../../src/service/limits/admission.ts';
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
] as const)('answers Authorization: %s with %s', async ([authorization, expected], { service }) => {
  const headers = { Authorization: authorization.replaceAll('<key>', service.key) };
  expect(outcome(await service.get('/inventory', { key: null, headers }))).toBe(expected);
});

test('rejects requests without a valid key with 401, and limits them per address', async () => {
  const service = await start({ plan: 'free' });
  expect(rate(await service.get('/inventory'))).toMatch(/^60\/59\//);
  const keys = Array.from({ length: 600 }, (_, index) => (index % 2 === 0 ? null : 'psk_wrong'));
  const answers = [];
  for (const key of keys) answers.push(await service.get('/store/orders', { key }));
  expect(new Set(answers.map(outcome))).toEqual(new Set(['401 missing_api_key', '401 invalid_api_key']));
  const flood = await service.get('/inventory', { key: null });
  expect([outcome(flood), flood.headers['retry-after']]).toEqual(['429 address_rate_limited', '60']);
  expect(rate(flood)).toBe(`600/0/${(NOON + 60_000) / 1000}`);
  expect(rate(await service.get('/inventory'))).toMatch(/^60\/58\//);
  service.clock.advance(60_000);
  expect(outcome(await service.get('/inventory', { key: null }))).toBe('401 missing_api_key');
});

test('forgets the oldest of 10,000 addresses when another address comes', () => {
  const buckets = addressBuckets(60_000);
  const left = (address: string) => buckets.peek(address, NOON).remaining;
  for (let at = 0; at < 10_000; at += 1) buckets.admit(`${at}`, NOON);
  buckets.admit('9999', NOON);
  expect([left('0'), left('1'), left('9999')]).toEqual([599n, 599n, 598n]);
  buckets.admit('new', NOON);
  expect([left('0'), left('1'), left('new')]).toEqual([600n, 599n, 599n]);
});

test('generates different keys with a checksum', () => {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const keys = Array.from({ length: 50 }, generateKey);
  expect(new Set(keys).size).toBe(50);
  for (const key of keys) {
    const [, random = '', sum = ''] = /^psk_(\w{30})(\w{6})$/.exec(key) ?? [];
    expect([...sum].reduce((value, digit) => value * 62 + digits.indexOf(digit), 0)).toBe(crc32(random));
  }
});

test.for([
  [{ plan: 'free' }, '60/59/'],
  [{ plan: 'pro' }, '300/299/'],
  [{}, '1000/999/'],
  [{ limits: { minute: 2n ** 63n - 2n, day: 2n ** 63n - 1n } }, '9223372036854775806/9223372036854775805/'],
] as const)('limits the key by %o', async ([options, shown]) => {
  expect(rate(await (await start(options)).get('/inventory'))).toContain(shown);
});

test('stores only the digest of a key', async ({ file }) => {
  const service = await start({ file });
  await service.get('/inventory');
  const bytes = Buffer.concat([file, `${file}-wal`].map((path) => readFileSync(path)));
  const digest = createHash('sha256').update(service.key).digest();
  expect([bytes.includes(service.key), bytes.includes(digest)]).toEqual([false, true]);
});
