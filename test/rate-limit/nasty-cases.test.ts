import { describe, expect, test } from 'vitest';
import { OvertakenError } from '../../src/rate-limit/governor.ts';
import { MemoryLimits } from '../../src/rate-limit/memory-limits.ts';
import { RateLimitedError, UnavailableError } from '../../src/shared/errors.ts';
import { createTestClock } from '../support/clock.ts';
import { createRig, ok, processWith, refused, told, unaborted, unavailable } from './rig.ts';
import type { Scenario } from './scenario.ts';
import type { SimulatedServiceOptions } from './simulated-service.ts';
import { simulate } from './simulation.ts';
import { createVirtualClock } from './virtual-clock.ts';

const second = 1000;
const hour = 3_600_000;
const day = 24 * hour;
const noon = Date.UTC(2026, 0, 15, 12);
/** A wait of 40 s for a window, with what two clocks may drift apart in it. */
const fortySeconds = 40_009;

interface Changes extends Omit<Partial<Scenario>, 'service'> {
  readonly service?: Partial<SimulatedServiceOptions>;
}

const scenario = (changes: Changes): Scenario => ({
  latency: [50, 50],
  processes: [{ requests: 60, concurrency: 10 }],
  seed: 1,
  ...changes,
  service: { window: 60_000, limit: 20, start: noon + 20_000, ...changes.service },
});

test('50 in flight at remaining 1: one goes, the others wait for the next window', async () => {
  const clock = createVirtualClock();
  const { governor, ask } = createRig({ clock });
  await ask(ok(told(1, 40 * second, clock.now())));
  const admittedAt: number[] = [];
  const admit = async () => {
    const permit = await governor.admit(unaborted);
    admittedAt.push(clock.monotonic());
    await clock.sleep(10);
    const left =
      admittedAt.length === 1 ? told(0, 39_990, clock.now()) : told(60 - admittedAt.length, 59_000, clock.now());
    await permit.answered(ok(left)).written;
  };
  await Promise.all(Array.from({ length: 50 }, admit));
  expect(admittedAt.filter((at) => at === 0)).toHaveLength(1);
  // The first behind the end is a probe, and the rest follows on its answer.
  expect(admittedAt.filter((at) => at === fortySeconds)).toHaveLength(1);
  expect(admittedAt.filter((at) => at === fortySeconds + 10)).toHaveLength(48);
});

describe('answers out of order', () => {
  test.each([[[3, 7, 5]], [[7, 5, 3]], [[5, 3, 7]]])('%j: three more may go', async (order) => {
    const clock = createVirtualClock();
    const { governor, ask } = createRig({ clock });
    await ask(ok(told(10, 40 * second, clock.now())));
    const permits = await Promise.all(Array.from({ length: 7 }, () => governor.admit(unaborted)));
    for (const left of [...order, 9, 8, 6, 4])
      await permits.pop()?.answered(ok(told(left, 40 * second, clock.now()))).written;
    for (let more = 1; more <= 3; more += 1) await governor.admit(unaborted);
    expect(clock.monotonic()).toBe(0);
    const fourth = governor.admit(unaborted).then(() => 'fourth');
    expect(await Promise.race([fourth, clock.sleep(39_000)])).toBeUndefined();
  });

  test('429s that ask for 3, 7 and 5 s: 7', async () => {
    const clock = createVirtualClock();
    const { governor, ask } = createRig({ clock });
    await ask(ok(told(50, 40 * second, clock.now())));
    const permits = await Promise.all(Array.from({ length: 3 }, () => governor.admit(unaborted)));
    for (const seconds of ['3', '7', '5']) await permits.pop()?.answered(refused({ 'retry-after': seconds })).written;
    expect(await ask(ok())).toBe(7000);
  });
});

describe('the local clock is off', () => {
  test.each([
    ['right', 0],
    ['30 s ahead', 30 * second],
    ['30 s behind', -30 * second],
    ['a day ahead', day],
    ['a day behind', -day],
  ])('%s: a window is waited for by the clock of the service', async (_how, skew) => {
    const clock = createTestClock();
    const { ask, announced } = createRig({ clock });
    const start = clock.monotonic();
    await ask(ok(told(0, 40 * second, clock.now() - skew)));
    expect((await ask(ok())) - start).toBe(fortySeconds);
    expect(announced.map(Math.ceil)).toEqual([fortySeconds]);
  });

  test.each([hour, -hour, day, -day])('stepped by %i ms during a wait', async (step) => {
    const clock = createTestClock();
    const sleep: typeof clock.sleep = (ms, signal) => {
      if (clock.sleeps.length === 1) clock.step(step);
      return clock.sleep(ms, signal);
    };
    const { ask } = createRig({ clock: { ...clock, sleep } });
    const start = clock.monotonic();
    await ask(ok(told(0, 40 * second, clock.now())));
    expect((await ask(ok())) - start).toBe(fortySeconds);
  });

  test('an answer without Date does not bring the wrong clock back', async () => {
    const clock = createTestClock();
    const { ask } = createRig({ clock });
    const theirs = clock.now() - hour;
    const start = clock.monotonic();
    await ask(ok(told(1, 40 * second, theirs)));
    const { date: _date, ...headers } = told(0, 40 * second, theirs);
    await ask(ok(headers));
    expect((await ask(ok())) - start).toBe(fortySeconds);
  });
});

describe('Retry-After', () => {
  test.each([
    // Retry-After, X-RateLimit-Reset in, wait
    ['60', 5, 60_000],
    ['0', 5, 1000],
    ['Thu, 15 Jan 2026 12:01:20 GMT', 5, 60_000],
    ['Thursday, 15-Jan-26 12:01:20 GMT', 5, 60_000],
    ['Thu Jan 15 12:01:20 2026', 5, 60_000],
    ['Thu, 15 Jan 2026 11:00:00 GMT', 5, 1000],
    // It can't be read: the longest that it can mean, and 60 s at least.
    ['-1', 2, 60_000],
    ['120.0', 2, 120_000],
    ['+120', 2, 120_000],
    ['"120"', 2, 120_000],
    ['1e2', 2, 100_000],
    ['garbage', 2, 60_000],
    // None: the end of the window.
    ['', 40, 40_000],
    [['30', '60'], 5, 60_000],
    [undefined, 40, 40_000],
  ])('%j with a reset in %i s: %i ms (these tests run under TZ=America/New_York)', async (retryAfter, reset, wait) => {
    const clock = createTestClock();
    const { ask } = createRig({ clock, maxWait: hour });
    const first = await ask(refused({ ...told(1, reset * second, clock.now()), 'retry-after': retryAfter }));
    expect((await ask(ok())) - first).toBe(wait);
  });

  test('a date, without a Date, goes by the clock of the service that is known', async () => {
    const clock = createTestClock();
    const { ask } = createRig({ clock });
    const theirs = clock.now() - hour;
    await ask(ok(told(50, 40 * second, theirs)));
    const first = await ask(refused({ 'retry-after': new Date(theirs + 60_000).toUTCString() }));
    expect((await ask(ok())) - first).toBe(60_000);
  });

  test.each([hour, -hour])(
    'a date beside a Date that is off by %i ms is never taken for a shorter wait',
    async (off) => {
      const later = (ms: number) => new Date(clock.now() + ms).toUTCString();
      const clock = createTestClock();
      const { ask } = createRig({ clock, maxWait: day });
      const first = await ask(refused({ date: later(off), 'retry-after': later(120_000) }));
      expect((await ask(ok())) - first).toBeGreaterThanOrEqual(120_000);
      await ask(ok({ date: later(0) }));
      const second = await ask(refused({ date: later(off), 'retry-after': later(120_000) }));
      expect((await ask(ok())) - second).toBeGreaterThanOrEqual(120_000);
    },
  );

  test.each(['9999999999', '9'.repeat(30), '9'.repeat(400)])(
    '%s closes the gate for 32 days, and that is said',
    async (asked) => {
      const clock = createTestClock();
      const { governor, ask, warnings } = createRig({ clock, maxWait: 0 });
      await ask(refused({ 'retry-after': asked }));
      expect(warnings).toEqual([
        expect.stringMatching(
          /^The service asked to wait until the year \d{4,}\. petstock waits at most 32 days; `petstock limits clear` forgets it\.$/,
        ),
      ]);
      clock.advance(32 * day - second);
      const error = await governor.admit(unaborted).catch((reason) => reason);
      expect(error).toBeInstanceOf(RateLimitedError);
      expect(error.retryAfterSeconds).toBe(1);
      clock.advance(second);
      await governor.admit(unaborted);
    },
  );

  test('of 14 h is refused at once, with the time at which it works again', async () => {
    const clock = createTestClock();
    const { governor, ask } = createRig({ clock });
    await ask(refused({ 'retry-after': '50400' }));
    await expect(governor.admit(unaborted)).rejects.toMatchObject({ kind: 'rate-limited', retryAfterSeconds: 50_400 });
    expect(clock.sleeps).toEqual([]);
  });

  test('of 14 h is waited for, in slices, where that is allowed', async () => {
    const clock = createTestClock();
    const { ask } = createRig({ clock, maxWait: day });
    await ask(refused({ 'retry-after': '50400' }));
    await ask(ok());
    expect(Math.max(...clock.sleeps)).toBe(15_000);
    expect(clock.sleeps.reduce((sum, ms) => sum + ms, 0)).toBe(14 * hour);
  });
});

test('a 429 without headers: 60 s', async () => {
  const clock = createTestClock();
  const { ask } = createRig({ clock });
  const first = await ask(refused());
  expect((await ask(ok())) - first).toBe(60_000);
});

test('a server that rolls 900 ms late: at most one 429 per window, and none inside the Retry-After', async () => {
  const { refusals, inside, episodesPerWindow, answered, service } = await simulate(
    scenario({ service: { late: 900, strikes: 10 } }),
  );
  expect({ answered, inside, banned: service.banned }).toEqual({ answered: 60, inside: 0, banned: 0 });
  expect(episodesPerWindow).toBeLessThanOrEqual(1);
  expect(refusals.length).toBeLessThanOrEqual(2);
});

test('limit 1000 with a reset 45 s away is a minute, and is waited for', async () => {
  const clock = createTestClock();
  const { ask } = createRig({ clock });
  const start = clock.monotonic();
  await ask(ok({ ...told(0, 45 * second, clock.now()), 'x-ratelimit-limit': '1000' }));
  expect((await ask(ok())) - start).toBe(45_010);
});

test('limit 1000 with a reset 12 h away is a day, and is not waited for', async () => {
  const clock = createTestClock();
  const { ask, governor } = createRig({ clock });
  await ask(ok({ ...told(0, 12 * hour, clock.now()), 'x-ratelimit-limit': '1000' }));
  await expect(governor.admit(unaborted)).rejects.toBeInstanceOf(RateLimitedError);
});

test('headers that flip from minute to day in a run: neither is passed', async () => {
  const { refusals, answered, limited, endedAt } = await simulate(
    scenario({ service: { dayLimit: 50 }, maxWait: 200_000 }),
  );
  expect({ refusals, answered, limited }).toEqual({ refusals: [], answered: 50, limited: 10 });
  expect(endedAt).toBeLessThan(200_000);
});

test('midnight, where the minute and the day end at once', async () => {
  const start = Date.UTC(2026, 0, 15, 23, 58, 30);
  const { refusals, answered } = await simulate(scenario({ service: { dayLimit: 50, start } }));
  expect({ refusals, answered }).toEqual({ refusals: [], answered: 60 });
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

  test('during a gate: the rest of it is waited for', async () => {
    expect(await restart(refused({ 'retry-after': '60' }), 5000)).toBe(60_000);
  });

  test('longer than a gate: nothing is waited for', async () => {
    expect(await restart(refused({ 'retry-after': '60' }), 300_000)).toBe(310_000);
  });

  test('with a wall clock that begins in 1970: the gate lasts as long as it was, and not for decades', async () => {
    const since = await restart(refused({ 'retry-after': '60' }), 5000, -50 * 365 * day);
    expect(since).toBe(5000 + 10_000 + 60_000);
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

test('kill -9 of the prober: the next probe goes when its lease is over', async () => {
  const clock = createVirtualClock();
  const store = new MemoryLimits();
  await createRig({ clock, store }).governor.admit(unaborted);
  const { ask } = createRig({ clock, store });
  const sentAt = await ask(ok());
  expect(sentAt).toBeGreaterThanOrEqual(31_000);
  expect(sentAt).toBeLessThanOrEqual(31_250);
});

describe('a process that is gone', () => {
  /** The next probe, where the first was of a process that has died with it. */
  const probeAfter = async (dead: ReturnType<typeof processWith>, isGone: (process: object) => boolean) => {
    const clock = createVirtualClock();
    const store = new MemoryLimits();
    await createRig({ clock, store, self: dead }).governor.admit(unaborted);
    return createRig({ clock, store, isGone }).ask(ok());
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
    expect(await probeAfter(dead, () => false)).toBeGreaterThanOrEqual(31_000);
    expect(
      await probeAfter(dead, (process) =>
        Object.entries(changes).every(([name, value]) => Object(process)[name] === value),
      ),
    ).toBe(0);
  });

  test('may have had its requests counted', async () => {
    const clock = createVirtualClock();
    const store = new MemoryLimits();
    const killed = createRig({ clock, store });
    await killed.ask(ok(told(5, 40 * second, clock.now())));
    await killed.governor.admitSeveral({ least: 1, most: 5 }, unaborted);
    expect(await createRig({ clock, store, isGone: () => true }).ask(ok())).toBe(fortySeconds);
  });
});

test('SIGSTOP for 30 s between admission and sending, while another process meets a 429', async () => {
  const clock = createVirtualClock();
  const store = new MemoryLimits();
  const stopped = createRig({ clock, store });
  await stopped.ask(ok(told(50, 40 * second, clock.now())));
  const permit = await stopped.governor.admit(unaborted);
  await createRig({ clock, store }).ask(refused({ 'retry-after': '50' }));
  await clock.sleep(30_000);
  expect(permit.leave).toThrow(OvertakenError);
  await permit.unsent();
  expect(await stopped.ask(ok())).toBe(50_000);
});

test('SIGSTOP for 30 s of processes that send: nothing inside a Retry-After', async () => {
  const stops = [{ at: 100, length: 30_000 }];
  const { refusals, inside, answered } = await simulate(
    scenario({
      connecting: [0, 200],
      processes: [
        { requests: 30, concurrency: 10, stops },
        { requests: 30, concurrency: 10 },
      ],
    }),
  );
  expect({ refusals, inside, answered }).toEqual({ refusals: [], inside: 0, answered: 60 });
});

test('xargs -P 32 across a rollover: no 429', async () => {
  const processes = Array.from({ length: 100 }, (_, n) => ({
    requests: 1,
    concurrency: 1,
    startsAt: 37_000 + Math.floor(n / 32) * 1500,
  }));
  const { refusals, answered } = await simulate(scenario({ processes, service: { limit: 60 } }));
  expect({ refusals, answered }).toEqual({ refusals: [], answered: 100 });
});

test('Ctrl-C in a sleep', async () => {
  const reason = new Error('Ctrl-C');
  const controller = new AbortController();
  const clock = createTestClock();
  const sleep: typeof clock.sleep = (ms, signal) => {
    if (clock.sleeps.length === 1) controller.abort(reason);
    return clock.sleep(ms, signal);
  };
  const { governor, ask } = createRig({ clock: { ...clock, sleep } });
  await ask(refused({ 'retry-after': '60' }));
  await expect(governor.admit(controller.signal)).rejects.toBe(reason);
  expect(clock.sleeps).toEqual([15_000]);
});

describe('a 503 with Retry-After', () => {
  test('is waited for, by all', async () => {
    const clock = createTestClock();
    const store = new MemoryLimits();
    const { ask } = createRig({ clock, store });
    const start = clock.monotonic();
    await ask(ok(told(50, 40 * second, clock.now())));
    await ask(unavailable('30'));
    expect((await createRig({ clock, store }).ask(ok())) - start).toBe(30_000);
  });

  test('holds back what was admitted before', async () => {
    const clock = createTestClock();
    const { ask, governor } = createRig({ clock });
    await ask(ok(told(50, 40 * second, clock.now())));
    const [one, other] = await governor.admitSeveral({ least: 2, most: 2 }, unaborted);
    await one.answered(unavailable('30')).written;
    expect(other?.leave).toThrow(OvertakenError);
  });

  test('is no episode, however often', async () => {
    const clock = createTestClock();
    const { ask } = createRig({ clock, maxWait: hour });
    for (let round = 0; round < 5; round += 1) await ask(unavailable('5'));
    await ask(ok());
    expect(clock.sleeps).toEqual([5000, 5000, 5000, 5000, 5000]);
  });

  test.each<[string, string, number]>([
    ['of more than a minute ends a command at once', '70', hour],
    ['of more than the command may wait too', '30', 20_000],
  ])('%s: the service is unavailable', async (_what, asked, maxWait) => {
    const clock = createTestClock();
    const store = new MemoryLimits();
    await createRig({ clock, store }).ask(unavailable(asked));
    const { governor } = createRig({ clock, store, maxWait });
    const error = await governor.admit(unaborted).catch((reason) => reason);
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error.retryAfterSeconds).toBe(Number(asked));
    expect(clock.sleeps).toEqual([]);
  });
});

describe('a limit lowered in a run', () => {
  test('is no sign of others: what is left may be used', async () => {
    const clock = createVirtualClock();
    const { governor, ask } = createRig({ clock });
    await ask(ok({ ...told(990, 40 * second, clock.now()), 'x-ratelimit-limit': '1000' }));
    await ask(ok({ ...told(49, 40 * second, clock.now()), 'x-ratelimit-limit': '60' }));
    await Promise.all(Array.from({ length: 49 }, () => governor.admit(unaborted)));
    expect(clock.monotonic()).toBe(0);
  });

  test('to less than what was used: one episode', async () => {
    const { answered, inside, episodesPerWindow } = await simulate(
      scenario({
        service: { limit: 60, lowered: { at: 150, limit: 10 } },
        processes: [{ requests: 70, concurrency: 10 }],
      }),
    );
    expect({ answered, inside }).toEqual({ answered: 70, inside: 0 });
    expect(episodesPerWindow).toBeLessThanOrEqual(1);
  });
});

test('two keys at once: another key is not held up', async () => {
  const clock = createTestClock();
  const store = new MemoryLimits();
  await createRig({ clock, store, scope: 'one' }).ask(refused({ 'retry-after': '60' }));
  await createRig({ clock, store, scope: 'other' }).ask(ok());
  expect(clock.sleeps).toEqual([]);
});

describe('figures that make no sense do not block a key for years', () => {
  test('a reset in the year 9999', async () => {
    const clock = createTestClock();
    const { ask } = createRig({ clock });
    await ask(ok({ ...told(0, 40 * second, clock.now()), 'x-ratelimit-reset': '253402300799' }));
    await ask(ok());
    expect(clock.sleeps).toEqual([]);
  });

  test('a reset that is taken back', async () => {
    const clock = createTestClock();
    const { ask } = createRig({ clock });
    const start = await ask(ok(told(1, 12 * hour, clock.now())));
    await ask(ok(told(0, 2 * hour, clock.now())));
    await expect(ask(ok())).rejects.toMatchObject({ retryAfterSeconds: 7202 });
    expect(clock.monotonic()).toBe(start);
  });

  test('a reset that is worked out anew each time, a second earlier or later, is one window', async () => {
    const clock = createVirtualClock();
    const { governor, ask } = createRig({ clock });
    await ask(ok(told(8, 40 * second, clock.now())));
    const permits = await Promise.all([1, 2, 3].map(() => governor.admit(unaborted)));
    // Counted in the order 7, 6, 5; the last one tells the earlier end.
    permits[0]?.answered(ok(told(7, 41 * second, clock.now())));
    permits[1]?.answered(ok(told(6, 41 * second, clock.now())));
    permits[2]?.answered(ok(told(5, 40 * second, clock.now())));
    for (let more = 1; more <= 5; more += 1) await governor.admit(unaborted);
    const sixth = governor.admit(unaborted).then(() => 'sixth');
    expect(await Promise.race([sixth, clock.sleep(1000)])).toBeUndefined();
  });
});
