import { beforeEach, expect, test } from 'vitest';
import { knownGates, knownLimits } from '../../src/rate-limit/known-limits.ts';
import { MemoryLimits } from '../../src/rate-limit/memory-limits.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { createRig, ok, refused, scope, told, unavailable } from './rig.ts';

let store: MemoryLimits;
let clock: TestClock;

beforeEach(() => {
  store = new MemoryLimits();
  clock = createTestClock();
});

const rigOf = (name = scope, env = 'staging') => createRig({ clock, store, env, scope: name });

test('nothing at first', async () => {
  expect(knownLimits(await store.list())).toEqual([]);
});

test('what the last answer said, less what was sent since without an answer that says it', async () => {
  const { ask } = rigOf();
  await ask(ok(told(57, 40_000, clock.now())));
  await ask(ok());
  expect(knownLimits(await store.list())).toEqual([
    { scope, env: 'staging', kind: 'minute', limit: 60, remaining: 56, resetAt: 1_768_478_460_000, asOf: clock.now() },
  ]);
});

test('both windows, where both were seen', async () => {
  const { ask } = rigOf();
  await ask(ok(told(57, 40_000, clock.now())));
  await ask(ok({ ...told(5, 43_180_000, clock.now()), 'x-ratelimit-limit': '1000' }));
  expect(knownLimits(await store.list()).map(({ kind, limit, remaining }) => [kind, limit, remaining])).toEqual([
    ['minute', 60, 56],
    ['day', 1000, 5],
  ]);
});

test('a key that has only met bare 429s has none, but a gate', async () => {
  await rigOf().ask(refused());
  const keys = await store.list();
  expect(knownLimits(keys)).toEqual([]);
  expect(knownGates(keys)).toEqual([{ scope, env: 'staging', until: clock.now() + 60_000, reason: 'refused' }]);
});

test('a gate that a 503 has closed', async () => {
  await rigOf().ask(unavailable('30'));
  expect(knownGates(await store.list())).toMatchObject([{ until: clock.now() + 30_000, reason: 'unavailable' }]);
});

test('all keys, by environment and the latest first', async () => {
  await rigOf('1'.repeat(32)).ask(ok(told(1, 40_000, clock.now())));
  clock.advance(1000);
  await rigOf('2'.repeat(32), 'production').ask(ok(told(2, 40_000, clock.now())));
  clock.advance(1000);
  await rigOf('3'.repeat(32)).ask(ok(told(3, 40_000, clock.now())));
  expect(knownLimits(await store.list()).map(({ env, remaining }) => [env, remaining])).toEqual([
    ['production', 2],
    ['staging', 3],
    ['staging', 1],
  ]);
});

test('what was cleared is forgotten', async () => {
  const { ask } = rigOf();
  await ask(ok(told(0, 40_000, clock.now())));
  await store.clear(scope);
  expect(knownLimits(await store.list())).toEqual([]);
  await ask(ok());
  expect(clock.sleeps).toEqual([]);
});
