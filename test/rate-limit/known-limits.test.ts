import { expect, test } from 'vitest';
import { knownLimits } from '../../src/rate-limit/known-limits.ts';
import { createRig, ok, scope, told } from './rig.ts';

test('what the last answer said, less what was sent since without an answer that says it', async () => {
  const { ask, clock, store } = createRig();
  await ask(ok(told(57, 40_000, clock.now())));
  await ask(ok());
  expect(knownLimits(await store.list())).toEqual([
    { scope, env: 'staging', kind: 'minute', limit: 60, remaining: 56, resetAt: 1_768_478_460_000, asOf: clock.now() },
  ]);
});

test('both windows, where both were seen', async () => {
  const { ask, clock, store } = createRig();
  await ask(ok(told(57, 40_000, clock.now())));
  await ask(ok({ ...told(5, 43_180_000, clock.now()), 'x-ratelimit-limit': '1000' }));
  expect(knownLimits(await store.list()).map(({ kind, limit, remaining }) => [kind, limit, remaining])).toEqual([
    ['minute', 60, 56],
    ['day', 1000, 5],
  ]);
});
