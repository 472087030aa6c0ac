import { setMaxListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { type ObservedAnswer, OvertakenError } from '../../src/rate-limit/governor.ts';
import { copyOf } from '../../src/rate-limit/key-state.ts';
import { MemoryLimits } from '../../src/rate-limit/memory-limits.ts';
import type { LimitRecord } from '../../src/rate-limit/records.ts';
import { RateLimitedError } from '../../src/shared/errors.ts';
import fc, { property } from '../support/seeded-fast-check.ts';
import { createRig, known, ok, refused, told, unaborted } from './rig.ts';
import { createVirtualClock } from './virtual-clock.ts';

const second = 1000;
const hour = 3_600_000;
const day = 24 * hour;
/** A wait of 40 s for a window, with what two clocks may drift apart in it. */
const fortySeconds = 40_009;

test('nothing known: one request leaves, the others wait for its answer', async () => {
  const { clock, governor, announced } = createRig({ clock: createVirtualClock() });
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
  const { clock, governor, ask } = createRig();
  expect(governor.lastSeen).toBeUndefined();
  await ask(ok(told(57, 40 * second, clock.now())));
  const seen = { limit: 60n, remaining: 57n, reset: 1_768_478_460, resetIn: 40_000, asOf: clock.now() };
  expect(governor.lastSeen).toEqual(seen);
  await ask(ok());
  expect(governor.lastSeen).toEqual(seen);
});

const start = Date.UTC(2026, 0, 15, 12, 0, 20);
const at = (ms: number) => new Date(start + ms).toUTCString();
const { date: _date, ...withoutDate } = told(0, 40 * second, start);
const ofThousand = { 'x-ratelimit-limit': '1000' };
const asking = (retryAfter: string | undefined, resetIn = 5 * second) =>
  refused({ ...told(1, resetIn, start), 'retry-after': retryAfter });

// These tests run under TZ=America/New_York.
test.each<[string, ObservedAnswer, number]>([
  ['a spent window', ok(told(0, 40 * second, start)), fortySeconds],
  ['by the clock of the service, 30 s behind ours', ok(told(0, 40 * second, start - 30 * second)), fortySeconds],
  ['by the clock of the service, a day ahead of ours', ok(told(0, 40 * second, start + day)), fortySeconds],
  ['by the local clock where there is no Date', ok(withoutDate), fortySeconds],
  ['a window that has ended already', ok(told(0, -10 * second, start)), 0],
  ['a reset in the year 9999', ok({ ...told(0, 40 * second, start), 'x-ratelimit-reset': '253402300799' }), 0],
  ['a limit of 1000 with a reset 45 s away: a minute', ok({ ...told(0, 45 * second, start), ...ofThousand }), 45_010],
  ['a 429 without headers', refused(), 60_000],
  ['Retry-After beside an earlier reset', asking('60'), 60_000],
  ['Retry-After: 0', asking('0'), 1000],
  ['a date', asking('Thu, 15 Jan 2026 12:01:20 GMT'), 60_000],
  ['a date by the clock of the service', refused({ date: at(-day), 'retry-after': at(60_000 - day) }), 60_000],
  ['a number that is none', asking('120.0'), 120_000],
  ['garbage', asking('garbage'), 60_000],
  ['an empty Retry-After: the end of the window', asking('', 40 * second), 40_000],
  ['no Retry-After: the end of the window', asking(undefined, 40 * second), 40_000],
])('the next request waits behind %s', async (_what, answer, wait) => {
  const { announced, waitAfter } = createRig({ maxWait: hour });
  expect(await waitAfter(answer)).toBe(wait);
  expect(announced.map(Math.ceil)).toEqual(wait === 0 ? [] : [wait]);
});

test('a store whose times are rounded down is not asked again before a millisecond has passed', async () => {
  let folds = 0;
  class Rounding extends MemoryLimits {
    override fold(scope: string, records: readonly LimitRecord[]) {
      folds += 1;
      if (folds > 20) throw new Error('it is asked again and again');
      const rounded = records.map((record) =>
        record.type === 'intent' ? { ...record, at: record.at - 0.0002 } : record,
      );
      return super.fold(scope, rounded);
    }
  }
  const { waitAfter } = createRig({ store: new Rounding() });
  expect(await waitAfter(refused({ 'retry-after': '60' }))).toBe(60_001);
});

test('a wait for the next day is not begun unless it is allowed', async () => {
  const { clock, governor, ask } = createRig();
  await ask(ok(told(0, 12 * hour, clock.now())));
  const day = { limit: 60, resetAt: clock.now() + 12 * hour };
  const refusal = { kind: 'rate-limited', retryAfterSeconds: 43_209, day };
  await expect(governor.admit(unaborted)).rejects.toMatchObject(refusal);
  expect(clock.sleeps).toEqual([]);
});

describe('after a 429', () => {
  test('a reset that an earlier answer told is not taken for one of this answer', async () => {
    const { waitAfter } = await known(5);
    expect(await waitAfter(refused())).toBe(60_000);
  });

  property(
    'never sent inside the gate, whatever the jitter, and however the wall clock is stepped',
    [
      fc.integer({ min: 1, max: 80 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      fc.integer({ min: -2 * day, max: 2 * day }),
    ],
    async (asked, chance, step) => {
      const { clock, ask } = createRig({ random: () => chance });
      const first = await ask(refused({ 'retry-after': String(asked) }));
      clock.step(step);
      const waited = (await ask(ok())) - first;
      expect(waited).toBeGreaterThanOrEqual(asked * second);
      expect(waited).toBeLessThanOrEqual(asked * 1100 + 1);
    },
  );
});

test('beside others on the key a window is waited for up to a second longer', async () => {
  const { clock, governor, ask } = createRig({ clock: createVirtualClock(), random: () => 0.5 });
  for (const left of [50, 0]) await ask(ok(told(left, 40 * second, clock.now())));
  await governor.admit(unaborted);
  expect(clock.monotonic()).toBe(fortySeconds + 500);
});

test('three 429s in a row end it for all processes, whichever of them sent', async () => {
  const { clock, beside } = createRig();
  for (let episode = 1; episode <= 3; episode += 1) await beside().ask(refused({ 'retry-after': '5' }));
  expect(clock.sleeps).toEqual([5000, 5000]);
  const { governor } = beside();
  await expect(governor.admit(unaborted)).rejects.toMatchObject({ kind: 'rate-limited', retryAfterSeconds: 5 });
  clock.advance(5000);
  await governor.admit(unaborted);
});

describe('the longest total wait', () => {
  test('is summed up over waits that follow one another', async () => {
    const { clock, governor, ask } = createRig({ maxWait: 90 * second });
    await ask(refused({ 'retry-after': '50' }));
    await ask(ok());
    await ask(refused({ 'retry-after': '41' }));
    await expect(governor.admit(unaborted)).rejects.toMatchObject({ retryAfterSeconds: 41 });
    expect(clock.sleeps.reduce((sum, ms) => sum + ms, 0)).toBe(50_000);
  });

  test('may be used up to its end', async () => {
    const { clock, ask } = createRig({ maxWait: 60 * second });
    await ask(refused({ 'retry-after': '60' }));
    await ask(ok());
    expect(clock.sleeps).toEqual([15_000, 15_000, 15_000, 15_000]);
  });

  test('of 0 waits for nothing', async () => {
    const { clock, governor, ask } = createRig({ maxWait: 0 });
    await ask(ok(told(0, second, clock.now())));
    await expect(governor.admit(unaborted)).rejects.toBeInstanceOf(RateLimitedError);
    expect(clock.sleeps).toEqual([]);
  });

  test('of 0 waits for an answer of its own, though another process has had a request in flight for long', async () => {
    const { clock, governor, beside } = await known(2, { clock: createVirtualClock(), maxWait: 0 });
    await beside().governor.admit(unaborted);
    const own = await governor.admit(unaborted);
    const next = governor.admit(unaborted);
    await clock.sleep(5 * second);
    await own.answered(ok(told(50, 35 * second, clock.now()))).written;
    await next;
    expect(clock.monotonic()).toBe(5 * second);
  });

  test('counts a time once, however many requests wait through it', async () => {
    const { clock, governor, ask } = createRig({ clock: createVirtualClock() });
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
    const { governor } = createRig();
    await expect(governor.admit(AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  test('leaves the next request its place', async () => {
    const { clock, governor } = await known(1);
    await governor.admit(AbortSignal.abort(reason)).catch(() => {});
    await governor.admit(unaborted);
    expect(clock.sleeps).toEqual([]);
  });

  test('ends a whole line that waits, at once', async () => {
    const { clock, governor, ask } = createRig({ clock: createVirtualClock() });
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

  test('ends a wait for what another process has in flight, which is not announced in its first second', async () => {
    const { clock, governor, beside } = createRig({ clock: createVirtualClock() });
    await governor.admit(unaborted);
    const controller = new AbortController();
    await clock.sleep(5000);
    const other = beside();
    const ended = other.governor.admit(controller.signal).catch((error) => error);
    await clock.sleep(500);
    controller.abort(reason);
    expect(await ended).toBe(reason);
    expect(clock.monotonic()).toBe(5500);
    expect(other.announced).toEqual([]);
  });
});

describe('a permit, when its request is about to leave', () => {
  const permitOf = async () => {
    const { clock, governor, beside } = await known(50, { clock: createVirtualClock() });
    return { clock, other: beside(), permit: await governor.admit(unaborted) };
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

  test('goes by what this process has written in the same turn of the event loop', async () => {
    const turn = {};
    const store = new (class extends MemoryLimits {
      override peek = (scope: string) => copyOf(super.peek(scope));
    })();
    const { governor } = await known(50, { store, clock: { ...createVirtualClock(), turn: () => turn } });
    const [refusing, first, second] = await governor.admitSeveral({ least: 2, most: 3 }, unaborted);
    expect(first?.leave).not.toThrow();
    const later = await governor.admit(unaborted);
    expect(later.leave).not.toThrow();
    await refusing.answered(refused({ 'retry-after': '60' })).written;
    expect(second?.leave).toThrow(OvertakenError);
  });

  test('that is given back takes no place', async () => {
    const { clock, governor } = await known(1, { clock: createVirtualClock() });
    for (let round = 0; round < 5; round += 1) await (await governor.admit(unaborted)).unsent();
    expect(clock.monotonic()).toBe(0);
    await (await governor.admit(unaborted)).lost();
    await governor.admit(unaborted);
    expect(clock.monotonic()).toBe(fortySeconds);
  });
});

test('10,000 at once: each is admitted, in the order in which they came, and none is kept for long', async () => {
  const { clock, governor, ask } = createRig({ clock: createVirtualClock() });
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
  const left = (remaining: number) => known(remaining, { clock: createVirtualClock() });

  test('a pair waits for the answers that are on their way', async () => {
    const { clock, governor } = await left(3);
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
    const { clock, governor } = await left(1);
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
  class Watched extends MemoryLimits {
    readonly log: string[] = [];
    fault: Error | undefined;

    override async fold(scope: string, records: readonly LimitRecord[]) {
      if (this.fault) throw this.fault;
      this.log.push(records.map(({ type }) => type).join(' '));
      return super.fold(scope, records);
    }
  }
  const started = async () => {
    const store = new Watched();
    const rig = await known(50, { store });
    store.log.length = 0;
    return { ...rig, store, log: store.log };
  };

  test('the first admission begins with the start, and the last answer is written at once', async () => {
    const store = new Watched();
    const { ask } = createRig({ store });
    await ask(ok());
    await ask(ok());
    expect(store.log).toEqual(['start intent', 'answer', 'intent', 'answer']);
  });

  test('answers go with the next admission', async () => {
    const { governor, log } = await started();
    const [one, two] = await governor.admitSeveral({ least: 1, most: 4 }, unaborted);
    await one.answered(ok()).written;
    await two?.lost();
    await governor.admit(unaborted);
    expect(log).toEqual(['intent', 'answer lost intent']);
  });

  test('or after a moment, or with a flush', async () => {
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
    const { governor, store, log } = await started();
    const [one, two] = await governor.admitSeveral({ least: 1, most: 2 }, unaborted);
    store.fault = new Error('full');
    await one.answered(refused()).written;
    expect(two?.leave).toThrow(OvertakenError);
    await expect(governor.admit(unaborted)).rejects.toBe(store.fault);
    store.fault = undefined;
    await governor.flush();
    expect(log).toEqual(['intent', 'answer']);
  });
});
