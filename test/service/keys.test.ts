import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, onTestFinished } from 'vitest';
import { type Grant, issueKey, openStore } from '../../src/service/index.ts';
import { idOfKey } from '../../src/service/keys/key.ts';
import { UNUSED } from '../../src/service/limits/admission.ts';
import { NOON, rate, start, TestClock, temporaryFile, test } from './support.ts';

async function issueIn(file: string, grant: Grant) {
  const store = await openStore({ file, clock: new TestClock() });
  onTestFinished(() => store.close());
  return issueKey(store, grant);
}

const huge = { minute: 2n ** 63n - 2n, day: 2n ** 63n - 1n };

test.each<[name: string, Grant, object, shown: string]>([
  ['free', 'free', { plan: 'free', limits: { minute: 60n, day: 1_000n } }, '60/59/'],
  ['pro', 'pro', { plan: 'pro', limits: { minute: 300n, day: 10_000n } }, '300/299/'],
  ['business', 'business', { plan: 'business', limits: { minute: 1_000n, day: 100_000n } }, '1000/999/'],
  [
    'limits of its own, exact beyond 2^53',
    huge,
    { plan: 'enterprise', limits: huge },
    '9223372036854775806/9223372036854775805/',
  ],
])('a key issued with %s is valid at once where the file is being served', async (_name, grant, entitlement, shown) => {
  const file = temporaryFile();
  const service = await start({ file });
  const { key, record } = await issueIn(file, grant);
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

test('a key is not in the file, its digest is', async ({ file }) => {
  const { key } = await issueIn(file, 'pro');
  const bytes = Buffer.concat([file, `${file}-wal`].map((path) => readFileSync(path)));
  const digest = createHash('sha256').update(key).digest();
  expect([bytes.includes(key), bytes.includes(digest)]).toEqual([false, true]);
});
