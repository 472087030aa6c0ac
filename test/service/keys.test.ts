import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, onTestFinished } from 'vitest';
import { type Grant, issueKey, openStore } from '../../src/service/index.ts';
import { idOfKey } from '../../src/service/keys/key.ts';
import { UNUSED } from '../../src/service/limits/admission.ts';
import { NOON, outcome, rate, start, TestClock, temporaryFile, test } from './support.ts';

async function keyRing(file: string, clock = new TestClock()) {
  const store = await openStore({ file, clock });
  onTestFinished(() => store.close());
  return {
    create: (grant: Grant) => issueKey(store, grant),
    list: () => store.keys(),
    revoke: (id: string) => store.revoke(id),
  };
}

test.each<[name: string, Grant, object, shown: string]>([
  ['free', 'free', { plan: 'free', limits: { minute: 60n, day: 1_000n } }, '60/59/'],
  ['pro', 'pro', { plan: 'pro', limits: { minute: 300n, day: 10_000n } }, '300/299/'],
  ['business', 'business', { plan: 'business', limits: { minute: 1_000n, day: 100_000n } }, '1000/999/'],
  ['limits of its own', { minute: 7n, day: 9n }, { plan: 'enterprise', limits: { minute: 7n, day: 9n } }, '7/6/'],
])('a key issued with %s is valid at once where the file is being served', async (_name, grant, entitlement, shown) => {
  const file = temporaryFile();
  const service = await start({ file });
  const { key, record } = await (await keyRing(file)).create(grant);
  expect(record).toEqual({
    usage: UNUSED,
    id: idOfKey(key),
    createdAt: NOON,
    revokedAt: null,
    origin: null,
    ...entitlement,
  });
  expect(rate(await service.get('/inventory', { key }))).toContain(shown);
});

test('a revoked key is refused at once and stays so; the others are not', async ({ file }) => {
  const clock = new TestClock();
  const ring = await keyRing(file, clock);
  const service = await start({ file, clock });
  const [one, other] = [await ring.create('pro'), await ring.create('pro')];
  clock.advance(5);
  expect(await ring.revoke(one.record.id)).toEqual({ ...one.record, revokedAt: NOON + 5 });
  expect(outcome(await service.get('/inventory', { key: one.key }))).toBe('401 invalid_api_key');
  expect(outcome(await service.get('/inventory', { key: other.key }))).toBe('200');
  const again = await start({ file, clock, key: one.key, plan: 'business' });
  expect(outcome(await again.get('/inventory'))).toBe('401 invalid_api_key');
  clock.advance(5);
  expect(await ring.revoke(one.record.id)).toMatchObject({ revokedAt: NOON + 5 });
  expect(await ring.revoke('000000000000')).toBeNull();
});

test('the list tells all keys, oldest first, and none of them is in the file', async ({ file }) => {
  const clock = new TestClock();
  const ring = await keyRing(file, clock);
  const issued = [];
  for (const plan of ['pro', 'free', 'business'] as const) {
    issued.push(await ring.create(plan));
    clock.advance(1);
  }
  expect(await ring.list()).toEqual(issued.map(({ record }) => record));
  const bytes = Buffer.concat([file, `${file}-wal`].map((path) => readFileSync(path)));
  for (const { key } of issued) {
    const digest = createHash('sha256').update(key).digest();
    expect([bytes.includes(key), bytes.includes(digest)]).toEqual([false, true]);
  }
});
