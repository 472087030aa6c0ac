import { describe, expect, test } from 'vitest';
import { MemoryLimits } from '../../src/rate-limit/memory-limits.ts';
import { createTestClock } from '../support/clock.ts';
import { createRig, known, ok, processWith, refused, told, unaborted, unavailable } from './rig.ts';
import { simulate } from './simulation.ts';
import { createVirtualClock } from './virtual-clock.ts';

const second = 1000;
const hour = 3_600_000;
const day = 24 * hour;
const noon = Date.UTC(2026, 0, 15, 12);
/** A wait of 40 s for a window, with what two clocks may drift apart in it. */
const fortySeconds = 40_009;

test.each([hour, -hour, day, -day])('the local clock is stepped by %i ms during a wait', async (step) => {
  const clock = createTestClock();
  const sleep: typeof clock.sleep = (ms, signal) => {
    if (clock.sleeps.length === 1) clock.step(step);
    return clock.sleep(ms, signal);
  };
  const { ask } = await known(0, { clock: { ...clock, sleep } });
  const start = clock.monotonic();
  expect((await ask(ok())) - start).toBe(fortySeconds);
});

describe('Retry-After', () => {
  test('a date, without a Date, goes by the clock of the service that is known', async () => {
    const { clock, ask, waitAfter } = createRig();
    const theirs = clock.now() - hour;
    await ask(ok(told(50, 40 * second, theirs)));
    expect(await waitAfter(refused({ 'retry-after': new Date(theirs + 80_000).toUTCString() }))).toBe(80_000);
  });

  test.each([hour, -hour])('a date beside a Date that is off by %i ms is never a shorter wait', async (off) => {
    const { clock, ask, waitAfter } = createRig({ maxWait: day });
    const later = (ms: number) => new Date(clock.now() + ms).toUTCString();
    const asking = () => refused({ date: later(off), 'retry-after': later(120_000) });
    expect(await waitAfter(asking())).toBeGreaterThanOrEqual(120_000);
    await ask(ok({ date: later(0) }));
    expect(await waitAfter(asking())).toBeGreaterThanOrEqual(120_000);
  });

  test.each(['9999999999', '9'.repeat(400)])('%s closes the gate for 32 days, and that is said', async (asked) => {
    const { clock, governor, ask, warnings } = createRig({ maxWait: 0 });
    await ask(refused({ 'retry-after': asked }));
    const said =
      /^The service asked to wait until the year \d{4,}\. petstock waits at most 32 days; `petstock limits clear`/;
    expect(warnings).toEqual([expect.stringMatching(said)]);
    clock.advance(32 * day - second);
    await expect(governor.admit(unaborted)).rejects.toMatchObject({ kind: 'rate-limited', retryAfterSeconds: 1 });
    clock.advance(second);
    await governor.admit(unaborted);
  });
});

test('a server that rolls 900 ms late: at most one 429 per window, and none inside the Retry-After', async () => {
  const { refusals, inside, episodesPerWindow, answered, service } = await simulate({
    service: { window: 60_000, limit: 20, start: noon + 20_000, late: 900, strikes: 10 },
    processes: [{ requests: 60, concurrency: 10 }],
    ...{ latency: [50, 50], seed: 1 },
  });
  expect({ answered, inside, banned: service.banned }).toEqual({ answered: 60, inside: 0, banned: 0 });
  expect(episodesPerWindow).toBeLessThanOrEqual(1);
  expect(refusals.length).toBeLessThanOrEqual(2);
});

describe('a restart of the machine', () => {
  /** @param away how long it was off; @param wallSays how much of that the wall clock knows */
  const restart = async (answer: ReturnType<typeof refused>, away: number, wallSays = away) => {
    const store = new MemoryLimits();
    const before = createVirtualClock({ boot: 'one' });
    before.advance(500_000);
    await createRig({ clock: before, store }).ask(answer);
    const after = createVirtualClock({ boot: 'two', start: before.now() + wallSays });
    after.advance(10_000);
    const { ask } = createRig({ clock: after, store, maxWait: day });
    const sentAt = await ask(ok());
    return sentAt + away;
  };

  test.each([
    ['during a gate: the rest of it is waited for', 5000, 5000, 60_000],
    ['longer than a gate: nothing is waited for', 300_000, 300_000, 310_000],
    ['with a wall clock that begins in 1970: the gate lasts as long as it was', 5000, -50 * 365 * day, 75_000],
  ])('%s', async (_what, away, wallSays, sentAt) => {
    expect(await restart(refused({ 'retry-after': '60' }), away, wallSays)).toBe(sentAt);
  });

  test('during a spent window: that is waited for as well', async () => {
    const now = Date.UTC(2026, 0, 15, 12, 0, 20) + 500_000;
    expect(await restart(ok(told(0, 40 * second, now)), 5000)).toBeGreaterThanOrEqual(40_000);
    expect(await restart(ok(told(0, 40 * second, now)), 5000)).toBeLessThan(41_000);
  });

  test('during a spent window, with a wall clock that begins in 1970: a probe', async () => {
    const now = Date.UTC(2026, 0, 15, 12, 0, 20) + 500_000;
    expect(await restart(ok(told(0, 12 * hour, now)), 5000, -50 * 365 * day)).toBe(15_000);
  });
});

describe('a process that is gone', () => {
  /** The next probe, where the first was of a process that has died with it. */
  const probeAfter = async (dead: ReturnType<typeof processWith>, isGone: (process: object) => boolean) => {
    const { governor, beside } = createRig({ clock: createVirtualClock(), self: dead });
    await governor.admit(unaborted);
    return beside({ isGone }).ask(ok());
  };

  test('gives up its probe at once', async () => {
    const dead = processWith();
    const sentAt = await probeAfter(dead, (process) => {
      expect(process).toEqual(dead);
      return true;
    });
    expect(sentAt).toBe(0);
  });

  test.each<[string, Partial<ReturnType<typeof processWith>>]>([
    ['whose pid another program has taken', { pid: 77, startedAt: 'later' }],
    ['of another pid namespace', { pid: 77, namespace: 'pid:[2]' }],
    ['of another host', { pid: 77, host: 'office' }],
  ])('%s: only where that is certain', async (_what, changes) => {
    const dead = processWith(changes);
    const sentAt = await probeAfter(dead, () => false);
    // Its lease is over then.
    expect(sentAt).toBeGreaterThanOrEqual(31_000);
    expect(sentAt).toBeLessThanOrEqual(31_250);
    expect(
      await probeAfter(dead, (process) =>
        Object.entries(changes).every(([name, value]) => Object(process)[name] === value),
      ),
    ).toBe(0);
  });

  test('may have had its requests counted', async () => {
    const { governor, beside } = await known(5, { clock: createVirtualClock() });
    await governor.admitSeveral({ least: 1, most: 5 }, unaborted);
    expect(await beside({ isGone: () => true }).ask(ok())).toBe(fortySeconds);
  });
});

test.each<[string, string, number]>([
  ['of more than a minute ends a command at once', '70', hour],
  ['of more than the command may wait too', '30', 20_000],
])('a 503 with a Retry-After %s: the service is unavailable', async (_what, asked, maxWait) => {
  const { clock, ask, beside } = createRig();
  await ask(unavailable(asked));
  const refusal = { kind: 'unavailable', retryAfterSeconds: Number(asked) };
  await expect(beside({ maxWait }).governor.admit(unaborted)).rejects.toMatchObject(refusal);
  expect(clock.sleeps).toEqual([]);
});

test('a reset that is taken back does not block a key for years', async () => {
  const { clock, ask } = createRig();
  const start = await ask(ok(told(1, 12 * hour, clock.now())));
  await ask(ok(told(0, 2 * hour, clock.now())));
  await expect(ask(ok())).rejects.toMatchObject({ retryAfterSeconds: 7202 });
  expect(clock.monotonic()).toBe(start);
});
