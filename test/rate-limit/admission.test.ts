import { setMaxListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { OvertakenError } from '../../src/rate-limit/governor.ts';
import { MemoryLimits } from '../../src/rate-limit/memory-limits.ts';
import { RateLimitedError } from '../../src/shared/errors.ts';
import { createTestClock } from '../support/clock.ts';
import fc from '../support/seeded-fast-check.ts';
import { createRig, ok, refused, told, unaborted } from './rig.ts';
import { createVirtualClock } from './virtual-clock.ts';

const second = 1000;
const hour = 3_600_000;
const day = 24 * hour;
/** A wait of 40 s for a window, with what two clocks may drift apart in it. */
const fortySeconds = 40_009;

test('nothing known: one request leaves, the others wait for its answer', async () => {
  const clock = createVirtualClock();
  const { governor, announced } = createRig({ clock });
  const probe = await governor.admit(unaborted);
  let admitted = 0;
  const others = Array.from({ length: 20 }, () => governor.admit(unaborted).then(() => admitted++));
  await clock.sleep(1000);
  expect(admitted).toBe(0);
  await probe.answered(ok(told(57, 40 * second, clock.now()))).written;
  await Promise.all(others);
  expect(clock.monotonic()).toBe(1000);
  expect(announced).toEqual([]);
});

test('what an answer told is what was last seen', async () => {
  const clock = createTestClock();
  const { governor, ask } = createRig({ clock });
  expect(governor.lastSeen).toBeUndefined();
  await ask(ok(told(57, 40 * second, clock.now())));
  const seen = { limit: 60n, remaining: 57n, reset: 1_768_478_460, resetIn: 40_000, asOf: clock.now() };
  expect(governor.lastSeen).toEqual(seen);
  await ask(ok());
  expect(governor.lastSeen).toEqual(seen);
});

describe('a spent window', () => {
  test('without Date it goes by the local clock', async () => {
    const clock = createTestClock();
    const { ask } = createRig({ clock });
    const { date: _date, ...headers } = told(0, 40 * second, clock.now());
    const start = await ask(ok(headers));
    expect((await ask(ok())) - start).toBe(fortySeconds);
  });

  test('never early: Date is cut to whole seconds', async () => {
    const clock = createTestClock(Date.UTC(2026, 0, 15, 12, 0, 20, 900));
    const { ask } = createRig({ clock });
    const reset = clock.now() + 39_100;
    await ask(ok(told(0, 39_100, clock.now())));
    await ask(ok());
    expect(clock.now()).toBeGreaterThanOrEqual(reset);
  });

  test('that has ended already is no reason to wait', async () => {
    const clock = createTestClock();
    const { ask } = createRig({ clock });
    await ask(ok(told(0, -10 * second, clock.now())));
    await ask(ok());
    expect(clock.sleeps).toEqual([]);
  });

  test('a wait for the next day is not begun unless it is allowed', async () => {
    const clock = createTestClock();
    const { ask, governor } = createRig({ clock });
    await ask(ok(told(0, 12 * hour, clock.now())));
    const day = { limit: 60, resetAt: clock.now() + 12 * hour };
    const refusal = { kind: 'rate-limited', retryAfterSeconds: 43_209, day };
    await expect(governor.admit(unaborted)).rejects.toMatchObject(refusal);
    expect(clock.sleeps).toEqual([]);
  });
});

describe('after a 429', () => {
  test('a date in Retry-After goes by the clock of the service', async () => {
    const clock = createTestClock();
    const { ask } = createRig({ clock });
    const theirs = clock.now() - day;
    const retryAfter = new Date(theirs + 60_000).toUTCString();
    const first = await ask(refused({ ...told(1, 5 * second, theirs), 'retry-after': retryAfter }));
    expect((await ask(ok())) - first).toBe(60_000);
  });

  test('a reset that an earlier answer told is not taken for one of this answer', async () => {
    const clock = createTestClock();
    const { ask } = createRig({ clock });
    await ask(ok(told(5, 10 * second, clock.now())));
    const first = await ask(refused());
    expect((await ask(ok())) - first).toBe(60_000);
  });

  test('never sent inside the gate, whatever the jitter, and however the wall clock is stepped', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 80 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.integer({ min: -2 * day, max: 2 * day }),
        async (asked, chance, step) => {
          const clock = createTestClock();
          const { ask } = createRig({ clock, random: () => chance });
          const first = await ask(refused({ 'retry-after': String(asked) }));
          clock.step(step);
          const waited = (await ask(ok())) - first;
          expect(waited).toBeGreaterThanOrEqual(asked * second);
          expect(waited).toBeLessThanOrEqual(asked * 1100 + 1);
        },
      ),
    );
  });
});

describe('episodes', () => {
  /** A governor that knows of a large rest, so that many may be in flight. */
  const busy = async (clock = createVirtualClock()) => {
    const rig = createRig({ clock, maxWait: hour });
    await rig.ask(ok(told(50, 40 * second, clock.now())));
    return { ...rig, clock };
  };

  test('429s of requests in flight are one episode', async () => {
    const { governor, ask, clock } = await busy();
    const permits = await Promise.all(Array.from({ length: 10 }, () => governor.admit(unaborted)));
    const start = clock.monotonic();
    for (const permit of permits) await permit.answered(refused({ 'retry-after': '2' })).written;
    expect((await ask(ok())) - start).toBe(2000);
  });

  test('the wait doubles from one to the next', async () => {
    const { ask } = await busy();
    const first = await ask(refused({ 'retry-after': '0' }));
    const next = await ask(refused({ 'retry-after': '0' }));
    expect(next - first).toBe(1000);
    expect((await ask(ok())) - next).toBe(2000);
  });

  test('three in a row end it', async () => {
    const clock = createTestClock();
    const { governor, ask } = createRig({ clock });
    for (let episode = 1; episode <= 3; episode += 1) await ask(refused({ 'retry-after': '5' }));
    expect(clock.sleeps).toEqual([5000, 5000]);
    await expect(governor.admit(unaborted)).rejects.toMatchObject({ kind: 'rate-limited', retryAfterSeconds: 5 });
    expect(clock.sleeps).toEqual([5000, 5000]);
  });

  test('three in a row end it for all processes, whichever of them sent', async () => {
    const clock = createTestClock();
    const store = new MemoryLimits();
    for (let episode = 1; episode <= 3; episode += 1) {
      await createRig({ clock, store }).ask(refused({ 'retry-after': '5' }));
    }
    const { governor } = createRig({ clock, store });
    await expect(governor.admit(unaborted)).rejects.toMatchObject({ retryAfterSeconds: 5 });
    clock.advance(5000);
    await governor.admit(unaborted);
  });

  test('an answer after the gate begins the count anew', async () => {
    const clock = createTestClock();
    const { ask } = createRig({ clock, maxWait: hour });
    for (let round = 1; round <= 3; round += 1) {
      await ask(refused({ 'retry-after': '5' }));
      await ask(refused({ 'retry-after': '5' }));
      await ask(ok());
    }
    expect(clock.sleeps).toEqual([5000, 5000, 5000, 5000, 5000, 5000]);
  });

  test('an answer to a request that was in flight at the 429 does not', async () => {
    const { governor, ask } = await busy();
    const slow = await governor.admit(unaborted);
    await ask(refused({ 'retry-after': '0' }));
    await slow.answered(ok()).written;
    const second429 = await ask(refused({ 'retry-after': '0' }));
    expect((await ask(ok())) - second429).toBe(2000);
  });
});

describe('the longest total wait', () => {
  test('is summed up over waits that follow one another', async () => {
    const clock = createTestClock();
    const { governor, ask } = createRig({ clock, maxWait: 90 * second });
    await ask(refused({ 'retry-after': '50' }));
    await ask(ok());
    await ask(refused({ 'retry-after': '41' }));
    await expect(governor.admit(unaborted)).rejects.toMatchObject({ retryAfterSeconds: 41 });
    expect(clock.sleeps.reduce((sum, ms) => sum + ms, 0)).toBe(50_000);
  });

  test('may be used up to its end', async () => {
    const clock = createTestClock();
    const { ask } = createRig({ clock, maxWait: 60 * second });
    await ask(refused({ 'retry-after': '60' }));
    await ask(ok());
    expect(clock.sleeps).toEqual([15_000, 15_000, 15_000, 15_000]);
  });

  test('of 0 waits for nothing', async () => {
    const clock = createTestClock();
    const { governor, ask } = createRig({ clock, maxWait: 0 });
    await ask(ok(told(0, second, clock.now())));
    await expect(governor.admit(unaborted)).rejects.toBeInstanceOf(RateLimitedError);
    expect(clock.sleeps).toEqual([]);
  });

  test('counts a time once, however many requests wait through it', async () => {
    const clock = createVirtualClock();
    const { governor, ask } = createRig({ clock });
    await ask(refused({ 'retry-after': '40' }));
    const start = clock.monotonic();
    const probe = governor.admit(unaborted);
    const others = Array.from({ length: 9 }, () => governor.admit(unaborted));
    await (await probe).answered(ok(told(50, 40 * second, clock.now()))).written;
    await Promise.all(others);
    expect(clock.monotonic() - start).toBe(40_000);
  });
});

describe('an abort', () => {
  const reason = new Error('Ctrl-C');

  test('before there is anything to wait for', async () => {
    const { governor } = createRig({ clock: createTestClock() });
    await expect(governor.admit(AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  test('leaves the next request its place', async () => {
    const clock = createTestClock();
    const { governor, ask } = createRig({ clock });
    await ask(ok(told(1, 40 * second, clock.now())));
    await governor.admit(AbortSignal.abort(reason)).catch(() => {});
    await governor.admit(unaborted);
    expect(clock.sleeps).toEqual([]);
  });

  test('ends a whole line that waits, at once', async () => {
    const clock = createVirtualClock();
    const { governor, ask } = createRig({ clock });
    await ask(refused({ 'retry-after': '60' }));
    const controller = new AbortController();
    setMaxListeners(0, controller.signal);
    const line = Array.from({ length: 50 }, () => governor.admit(controller.signal));
    await clock.sleep(1000);
    controller.abort(reason);
    const ends = await Promise.allSettled(line);
    expect(ends.every((end) => end.status === 'rejected' && end.reason === reason)).toBe(true);
    expect(clock.monotonic()).toBe(1000);
  });

  test('ends a wait for what another process has in flight', async () => {
    const clock = createVirtualClock();
    const store = new MemoryLimits();
    await createRig({ clock, store }).governor.admit(unaborted);
    const controller = new AbortController();
    const waiting = createRig({ clock, store }).governor.admit(controller.signal);
    const ended = waiting.catch((error) => error);
    await clock.sleep(1000);
    controller.abort(reason);
    expect(await ended).toBe(reason);
    expect(clock.monotonic()).toBe(1000);
  });
});

describe('a permit, when its request is about to leave', () => {
  const permitOf = async () => {
    const clock = createVirtualClock();
    const store = new MemoryLimits();
    const rig = createRig({ clock, store });
    const other = createRig({ clock, store });
    await rig.ask(ok(told(50, 40 * second, clock.now())));
    return { clock, other, permit: await rig.governor.admit(unaborted) };
  };

  test('holds', async () => {
    const { permit, clock } = await permitOf();
    clock.advance(30_000);
    expect(permit.leave).not.toThrow();
  });

  test('holds no longer where its time has run out', async () => {
    const { permit, clock } = await permitOf();
    clock.advance(31_000);
    expect(permit.leave).toThrow(OvertakenError);
  });

  test('holds no longer where another process has met a 429', async () => {
    const { permit, other } = await permitOf();
    await other.ask(refused({ 'retry-after': '60' }));
    expect(permit.leave).toThrow(OvertakenError);
  });

  test('that is given back takes no place', async () => {
    const clock = createVirtualClock();
    const { governor, ask } = createRig({ clock });
    await ask(ok(told(1, 40 * second, clock.now())));
    for (let round = 0; round < 5; round += 1) await (await governor.admit(unaborted)).unsent();
    expect(clock.monotonic()).toBe(0);
    await (await governor.admit(unaborted)).lost();
    await governor.admit(unaborted);
    expect(clock.monotonic()).toBe(fortySeconds);
  });
});

describe('two governors with one store', () => {
  test('the second one waits behind the gate of the first', async () => {
    const store = new MemoryLimits();
    const clock = createTestClock();
    const open = () => createRig({ clock, store });
    const first = await open().ask(refused({ 'retry-after': '60' }));
    expect((await open().ask(ok())) - first).toBe(60_000);
  });

  test('the second one, too impatient, sends nothing', async () => {
    const store = new MemoryLimits();
    const clock = createTestClock();
    await createRig({ clock, store }).ask(refused({ 'retry-after': '50400' }));
    const { governor } = createRig({ clock, store });
    await expect(governor.admit(unaborted)).rejects.toMatchObject({ retryAfterSeconds: 50_400 });
  });

  test('a gate that is raised while the other one waits holds it as well', async () => {
    const store = new MemoryLimits();
    const clock = createVirtualClock();
    const [one, other] = [createRig({ clock, store }), createRig({ clock, store })];
    await one.ask(ok(told(50, 40 * second, clock.now())));
    const slow = await other.governor.admit(unaborted);
    await one.ask(refused({ 'retry-after': '30' }));
    const next = one.ask(ok());
    await clock.sleep(10_000);
    await slow.answered(refused({ 'retry-after': '70' })).written;
    expect(await next).toBe(80_000);
  });

  test('the second one waits for a window that the first one has spent', async () => {
    const store = new MemoryLimits();
    const clock = createTestClock();
    const open = () => createRig({ clock, store });
    const first = await open().ask(ok(told(0, 40 * second, clock.now() - day)));
    expect((await open().ask(ok())) - first).toBe(fortySeconds);
  });
});

test('10,000 at once: each is admitted, in the order in which they came, and none is kept for long', async () => {
  const clock = createVirtualClock();
  const { governor, ask } = createRig({ clock });
  await ask(ok({ ...told(20_000, 40 * second, clock.now()), 'x-ratelimit-limit': '20000' }));
  const order: number[] = [];
  const one = async (n: number) => {
    const permit = await governor.admit(unaborted);
    order.push(n);
    await permit.answered(ok()).written;
  };
  await Promise.all(Array.from({ length: 10_000 }, (_, n) => one(n)));
  expect(order).toEqual(Array.from({ length: 10_000 }, (_, n) => n));
});

describe('several at once', () => {
  const known = async (remaining: number, changes: Partial<Parameters<typeof createRig>[0]> = {}) => {
    const clock = createVirtualClock();
    const rig = createRig({ clock, ...changes });
    await rig.ask(ok(told(remaining, 40 * second, clock.now())));
    return { ...rig, clock };
  };

  test('as many as there is room for, at most as many as were wanted', async () => {
    const { governor } = await known(7);
    expect(await governor.admitSeveral({ least: 1, most: 5 }, unaborted)).toHaveLength(5);
    expect(await governor.admitSeveral({ least: 1, most: 5 }, unaborted)).toHaveLength(2);
  });

  test('nothing known: one', async () => {
    const { governor } = createRig({ clock: createVirtualClock() });
    expect(await governor.admitSeveral({ least: 2, most: 2 }, unaborted)).toHaveLength(1);
  });

  test('a pair waits where only one is left, and one goes then as a probe', async () => {
    const { governor, clock } = await known(1);
    expect(await governor.admitSeveral({ least: 2, most: 2 }, unaborted)).toHaveLength(1);
    expect(clock.monotonic()).toBe(fortySeconds);
  });

  test('a pair waits for the answers that are on their way', async () => {
    const { governor, clock } = await known(3);
    const [first, second, third] = await governor.admitSeveral({ least: 1, most: 3 }, unaborted);
    const pair = governor.admitSeveral({ least: 2, most: 2 }, unaborted);
    await clock.sleep(100);
    await first.unsent();
    await clock.sleep(100);
    await second?.unsent();
    expect(await pair).toHaveLength(2);
    expect(clock.monotonic()).toBe(200);
    await third?.lost();
  });

  test('who came first is first', async () => {
    const { governor, clock } = await known(1);
    const order: string[] = [];
    const pair = governor.admitSeveral({ least: 2, most: 2 }, unaborted).then(([permit]) => {
      order.push('pair');
      return permit.answered(ok()).written;
    });
    const one = governor.admit(unaborted).then(() => order.push('one'));
    await Promise.all([pair, one]);
    expect(order).toEqual(['pair', 'one']);
    expect(clock.monotonic()).toBe(fortySeconds);
  });
});

describe('what is written when', () => {
  /** A store that counts its transactions, and may fail. */
  const watched = () => {
    const store = new MemoryLimits();
    const log: string[] = [];
    const failing = { with: undefined as Error | undefined };
    const fold: typeof store.fold = async (name, records) => {
      if (failing.with) throw failing.with;
      log.push(records.map(({ type }) => type).join(' '));
      return store.fold(name, records);
    };
    return {
      log,
      failing,
      store: { fold, peek: store.peek.bind(store), list: store.list.bind(store), clear: store.clear.bind(store) },
    };
  };
  const started = async () => {
    const clock = createTestClock();
    const { store, log, failing } = watched();
    const rig = createRig({ clock, store });
    await rig.ask(ok(told(50, 40 * second, clock.now())));
    log.length = 0;
    return { ...rig, clock, log, failing };
  };

  test('the first admission begins with the start, and the last answer is written at once', async () => {
    const { store, log } = watched();
    const { ask } = createRig({ clock: createTestClock(), store });
    await ask(ok());
    await ask(ok());
    expect(log).toEqual(['start intent', 'answer', 'intent', 'answer']);
  });

  test('answers go with the next admission', async () => {
    const { governor, log } = await started();
    const [one, two] = await governor.admitSeveral({ least: 1, most: 4 }, unaborted);
    await one.answered(ok()).written;
    await two?.lost();
    await governor.admit(unaborted);
    expect(log).toEqual(['intent', 'answer lost intent']);
  });

  test('or after 20 ms, or with a flush', async () => {
    const { governor, log, clock } = await started();
    const [one, two] = await governor.admitSeveral({ least: 1, most: 4 }, unaborted);
    await one.answered(ok()).written;
    expect(log).toEqual(['intent']);
    clock.expireDeadlines();
    await governor.flush();
    expect(log).toEqual(['intent', 'answer']);
    await two?.unsent();
    await governor.flush();
    await governor.flush();
    expect(log).toEqual(['intent', 'answer', 'unsent']);
  });

  test.each([
    [429, {}],
    [503, { 'retry-after': '5' }],
  ])('a %i is written at once', async (status, headers) => {
    const { governor, log } = await started();
    const [one, two] = await governor.admitSeveral({ least: 1, most: 4 }, unaborted);
    await one.answered(ok()).written;
    await two?.answered({ status, headers }).written;
    expect(log).toEqual(['intent', 'answer answer']);
  });

  test('a 429 that can not be written still holds back what was admitted, and the next admission fails', async () => {
    const { governor, failing, log } = await started();
    const [one, two] = await governor.admitSeveral({ least: 1, most: 2 }, unaborted);
    failing.with = new Error('full');
    await one.answered(refused()).written;
    expect(two?.leave).toThrow(OvertakenError);
    await expect(governor.admit(unaborted)).rejects.toBe(failing.with);
    failing.with = undefined;
    await governor.flush();
    expect(log).toEqual(['intent', 'answer']);
  });
});

test('a process that may not send any more', async () => {
  const clock = createTestClock();
  const may = { leave: true };
  const { governor } = createRig({ clock, mayLeave: () => may.leave });
  const permit = await governor.admit(unaborted);
  permit.leave();
  may.leave = false;
  expect(permit.leave).toThrow(OvertakenError);
});
