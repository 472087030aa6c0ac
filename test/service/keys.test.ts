import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { type Grant, issueKey, openStore } from '../../src/service/index.ts';
import { idOfKey } from '../../src/service/keys/key.ts';
import { UNUSED } from '../../src/service/limits/admission.ts';
import { NOON, rate, start, TestClock, test } from './support.ts';

const huge = { minute: 2n ** 63n - 2n, day: 2n ** 63n - 1n };

test.for<readonly [Grant, object, string]>([
  ['free', { plan: 'free', limits: { minute: 60n, day: 1_000n } }, '60/59/'],
  ['pro', { plan: 'pro', limits: { minute: 300n, day: 10_000n } }, '300/299/'],
  ['business', { plan: 'business', limits: { minute: 1_000n, day: 100_000n } }, '1000/999/'],
  [huge, { plan: 'enterprise', limits: huge }, '9223372036854775806/9223372036854775805/'],
])('a key issued for %o is valid at once, and not in the file, but its digest', async (row, { file }) => {
  const [grant, entitlement, shown] = row;
  const service = await start({ file });
  const store = await openStore({ file, clock: new TestClock() });
  const { key, record } = await issueKey(store, grant).finally(() => store.close());
  const known = { usage: UNUSED, id: idOfKey(key), createdAt: NOON, revokedAt: null, origin: null };
  expect(record).toEqual({ ...known, ...entitlement });
  expect(rate(await service.get('/inventory', { key }))).toContain(shown);
  const bytes = Buffer.concat([file, `${file}-wal`].map((path) => readFileSync(path)));
  const digest = createHash('sha256').update(key).digest();
  expect([bytes.includes(key), bytes.includes(digest)]).toEqual([false, true]);
});
