import { setMaxListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { copyOf } from '../../src/rate-limit/key-state.ts';
import { knownLimits } from '../../src/rate-limit/known-limits.ts';
import type { LimitRecord } from '../../src/rate-limit/limit-records.ts';
import { MemoryLimits } from '../../src/rate-limit/memory-limits.ts';
import { PermitExpiredError, type ResponseHead } from '../../src/rate-limit/permits.ts';
import { RateLimitedError } from '../../src/shared/errors.ts';
import fc, { property } from '../support/seeded-fast-check.ts';
import { createRig, known, ok, processWith, refused, scope, told, unaborted, unavailable } from './rig.ts';
import { createVirtualClock } from './virtual-clock.ts';

const second = 1000;
const hour = 3_600_000;
const day = 24 * hour;
const start = Date.UTC(2026, 0, 15, 12, 0, 20);
/** The rest of a window that ends in 40 s, plus the possible drift between two clocks. */
const fortySeconds = 40_009;

test('returns the last reported limits, and subtracts later requests from the known limits', async () => {
  const { clock, governor, ask, limits } = createRig();
  expect(governor.lastSeen).toBeUndefined();
  // The service's clock is an hour behind ours.
  await ask(ok(told(57, 40 * second, clock.now() - hour)));
  const times = { reset: 1_768_478_460_000 - hour, resetAt: 1_768_478_460_000 };
  const seen = { limit: 60, remaining: 57, ...times, asOf: clock.now() };
  expect(governor.lastSeen).toEqual(seen);
  await ask(ok());
  expect(governor.lastSeen).toEqual(seen);
  const ofMinute = { kind: 'minute', limit: 60, remaining: 56, resetAt: 1_768_478_460_000 - hour, asOf: clock.now() };
  expect(knownLimits(limits.peek(scope), clock)).toEqual([{ ...ofMinute, isOver: false }]);
  await ask(ok({ ...told(5, 43_180_000, clock.now() - hour), 'x-ratelimit-limit': '1000' }));
  expect(knownLimits(limits.peek(scope), clock)).toMatchObject([
    { kind: 'minute', limit: 60, remaining: 55 },
    { kind: 'day', limit: 1000, remaining: 5 },
  ]);
});

const at = (ms: number) => new Date(start + ms).toUTCString();
const { date: _date, ...withoutDate } = told(0, 40 * second, start);
const ofThousand = { 'x-ratelimit-limit': '1000' };
const asking = (retryAfter: string | undefined, resetIn = 5 * second) =>
  refused({ ...told(1, resetIn, start), 'retry-after': retryAfter });

// These tests run under TZ=America/New_York.
test.each<[string, ResponseHead | readonly ResponseHead[], number]>([
  ['a spent window', ok(told(0, 40 * second, start)), fortySeconds],
  ['a spent window, by a service clock 30 s behind ours', ok(told(0, 40 * second, start - 30 * second)), fortySeconds],
  ['a spent window, by a service clock a day ahead of ours', ok(told(0, 40 * second, start + day)), fortySeconds],
  ['a spent window without a Date, by the local clock', ok(withoutDate), fortySeconds],
  ['a window that has ended already', ok(told(0, -10 * second, start)), 0],
  ['a reset in the year 9999', ok({ ...told(0, 40 * second, start), 'x-ratelimit-reset': '253402300799' }), 0],
  ['a limit of 1000 with a reset 45 s away: a minute', ok({ ...told(0, 45 * second, start), ...ofThousand }), 45_010],
  ['a 429 without headers', refused(), 60_000],
  [
    'a 429 without headers after a response that reported a reset',
    [ok(told(5, 40 * second, start)), refused()],
    60_000,
  ],
  ['Retry-After beside an earlier reset', asking('60'), 60_000],
  ['Retry-After: 0', asking('0'), 1000],
  [
    'a Retry-After date of a clock that is days ahead',
    refused({ date: at(2 * day), 'retry-after': at(2 * day + 90_000) }),
    90_000,
  ],
  [
    'a Retry-After date without a Date, by the known service clock',
    [ok(told(50, 40 * second, start - hour)), refused({ 'retry-after': at(80_000 - hour) })],
    80_000,
  ],
  [
    'a Retry-After date beside a Date that is behind the known service clock',
    [ok(told(50, 40 * second, start)), refused({ date: at(-60_000), 'retry-after': at(60_000) })],
    120_000,
  ],
  ['an empty Retry-After: the end of the window', asking('', 40 * second), 40_000],
  ['no Retry-After: the end of the window', asking(undefined, 40 * second), 40_000],
])('waits exactly as long as needed after %s', async (_what, answers, wait) => {
  const { announced, ask, waitAfter } = createRig({ maxWait: hour });
  const [last = ok(), ...earlier] = [answers].flat().toReversed();
  for (const answer of earlier) await ask(answer);
  expect(await waitAfter(last)).toBe(wait);
  expect(announced.map(Math.ceil)).toEqual(wait === 0 ? [] : [wait]);
});

test.each([hour, -hour])(
  'waits the full time of a Retry-After date even if the Date beside it is off by %i ms',
  async (off) => {
    const dated = (now: number) =>
      refused({ date: new Date(now + off).toUTCString(), 'retry-after': new Date(now + 120_000).toUTCString() });
    const unknown = createRig({ maxWait: day });
    expect(await unknown.waitAfter(dated(start))).toBeGreaterThanOrEqual(120_000);
    // The service's clock, 5 hours behind ours, is known after the first response.
    const { ask, waitAfter } = createRig({ maxWait: day });
    await ask(ok({ date: at(-5 * hour) }));
    expect(await waitAfter(dated(start - 5 * hour))).toBeGreaterThanOrEqual(120_000);
  },
);

test.each([
  ['33 days', `${33 * 86_400}`],
  ['more than a year', '253370764800'],
  ['more than a year', '9'.repeat(400)],
])('closes the gate for 32 days if the service asks for a wait of %s', async (wait, asked) => {
  const { clock, governor, ask, warnings } = createRig({ maxWait: 0 });
  await ask(refused({ 'retry-after': asked }));
  const said = `The service asked for a wait of ${wait}. petstock waits at most 32 days`;
  expect(warnings).toEqual([said]);
  clock.advance(32 * day - second);
  await expect(governor.admit(unaborted)).rejects.toMatchObject({ kind: 'rate-limited', retryAfterSeconds: 1 });
  clock.advance(second);
  await governor.admit(unaborted);
});

test.each([hour, -hour, day, -day])(
  'waits just as long for a window if the local clock is stepped by %i ms',
  async (step) => {
    const clock = createVirtualClock();
    const sleep: typeof clock.sleep = (ms, signal) => {
      if (clock.sleeps.length === 1) clock.step(step);
      return clock.sleep(ms, signal);
    };
    const { waitAfter } = createRig({ clock: { ...clock, sleep } });
    expect(await waitAfter(ok(told(0, 40 * second, clock.now())))).toBe(fortySeconds);
  },
);

property(
  'waits for the end of a gate, whatever the jitter, even if the wall clock is stepped',
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

test('does not retry within a millisecond if the state rounds times down', async () => {
  let folds = 0;
  class Rounding extends MemoryLimits {
    override fold(scope: string, records: readonly LimitRecord[]) {
      folds += 1;
      if (folds > 20) throw new Error('it is asked again and again');
      const down = (record: LimitRecord) => (record.type === 'intent' ? { ...record, at: record.at - 0.0002 } : record);
      return super.fold(scope, records.map(down));
    }
  }
  const { waitAfter } = createRig({ limits: new Rounding() });
  expect(await waitAfter(refused({ 'retry-after': '60' }))).toBe(60_001);
});

test.each([
  [60, "Today's 60 requests are used up"],
  [1, "Today's only request is used up"],
])('refuses to wait for the next day by default with a daily limit of %i', async (limit, message) => {
  const { clock, governor, ask } = createRig();
  await ask(ok({ ...told(0, 12 * hour, clock.now()), 'x-ratelimit-limit': `${limit}` }));
  const refusal = { retryAfterSeconds: 43_209, day: { limit, resetAt: clock.now() + 12 * hour }, message };
  await expect(governor.admit(unaborted)).rejects.toMatchObject({ kind: 'rate-limited', ...refusal });
  expect(clock.sleeps).toEqual([]);
});

test('waits up to a second longer for a window if other users use the key', async () => {
  const { clock, governor, ask } = createRig({ random: () => 0.5 });
  for (const left of [50, 0]) await ask(ok(told(left, 40 * second, clock.now())));
  await governor.admit(unaborted);
  expect(clock.monotonic()).toBe(fortySeconds + 500);
});

test('refuses every process after three 429s in a row until the gate lifts', async () => {
  const { clock, beside } = createRig();
  for (let episode = 1; episode <= 3; episode += 1) await beside().ask(refused({ 'retry-after': '5' }));
  expect(clock.sleeps).toEqual([5000, 5000]);
  const { governor } = beside();
  await expect(governor.admit(unaborted)).rejects.toMatchObject({ kind: 'rate-limited', retryAfterSeconds: 5 });
  clock.advance(5000);
  await governor.admit(unaborted);
});

test.each([
  ['of more than a minute', '70', hour],
  ['of more than the command may wait', '30', 20_000],
])('reports the service as unavailable after a 503 with a Retry-After %s', async (_what, seconds, maxWait) => {
  const { clock, ask, beside } = createRig();
  await ask(unavailable(seconds));
  const refusal = { kind: 'unavailable', retryAfterSeconds: Number(seconds) };
  await expect(beside({ maxWait }).governor.admit(unaborted)).rejects.toMatchObject(refusal);
  expect(clock.sleeps).toEqual([]);
});

test("reports a spent limit, not an outage, if the limit lasts longer than a 503's Retry-After", async () => {
  const { ask, beside } = createRig();
  await ask({ status: 503, headers: { ...told(0, 40 * second, start), 'retry-after': '10' } });
  await expect(beside({ maxWait: 20_000 }).governor.admit(unaborted)).rejects.toThrow(RateLimitedError);
});

describe('maxWait', () => {
  test('counts successive waits together against maxWait', async () => {
    const { clock, governor, ask } = createRig({ maxWait: 90 * second });
    await ask(refused({ 'retry-after': '50' }));
    await ask(ok());
    await ask(refused({ 'retry-after': '41' }));
    await expect(governor.admit(unaborted)).rejects.toMatchObject({ retryAfterSeconds: 41 });
    expect(clock.sleeps.reduce((sum, ms) => sum + ms, 0)).toBe(50_000);
  });

  test('allows maxWait for each admission, or for each wait, as configured', async () => {
    for (const maxWaitFor of ['each', 'wait'] as const) {
      const { clock, ask } = createRig({ maxWait: 60 * second, maxWaitFor });
      for (let round = 0; round < 2; round += 1) {
        await ask(refused({ 'retry-after': '50' }));
        await ask(ok());
      }
      expect(clock.monotonic()).toBe(100 * second);
    }
  });

  test('allows a wait of exactly maxWait, and no wait if maxWait is 0', async () => {
    const whole = createRig({ maxWait: 60 * second });
    await whole.waitAfter(refused({ 'retry-after': '60' }));
    expect(whole.clock.sleeps).toEqual([15_000, 15_000, 15_000, 15_000]);
    const none = createRig({ maxWait: 0 });
    await none.ask(ok(told(0, second, none.clock.now())));
    await expect(none.governor.admit(unaborted)).rejects.toBeInstanceOf(RateLimitedError);
    expect(none.clock.sleeps).toEqual([]);
  });

  test('lets a request wait for an earlier request of its own process even if maxWait is 0', async () => {
    const { clock, governor, beside } = await known(2, { maxWait: 0 });
    await beside().governor.admit(unaborted);
    const own = await governor.admit(unaborted);
    const next = governor.admit(unaborted);
    await clock.sleep(5 * second);
    await own.recordResponse(ok(told(50, 35 * second, clock.now()))).persisted;
    await next;
    expect(clock.monotonic()).toBe(5 * second);
  });

  test('waits for a request of another process beside one of its own even if maxWait is 0', async () => {
    const { clock, governor, beside } = await known(2, { maxWait: 0 });
    const other = await beside().governor.admit(unaborted);
    await governor.admit(unaborted);
    const next = governor.admit(unaborted);
    await clock.sleep(5 * second);
    await other.recordResponse(ok(told(50, 35 * second, clock.now()))).persisted;
    await next;
    expect(clock.monotonic()).toBeLessThanOrEqual(5250);
  });

  test('lets all waiting requests continue at the end of one gate', async () => {
    const { clock, governor, ask } = createRig();
    await ask(refused({ 'retry-after': '40' }));
    const probe = governor.admit(unaborted);
    const others = Array.from({ length: 9 }, () => governor.admit(unaborted));
    await (await probe).recordResponse(ok(told(50, 40 * second, clock.now()))).persisted;
    await Promise.all(others);
    expect(clock.monotonic()).toBe(40_000);
  });
});

describe('an abort of an admission', () => {
  const reason = new Error('Ctrl-C');

  test('rejects an aborted admission at once, without delaying the next request', async () => {
    await expect(createRig().governor.admit(AbortSignal.abort(reason))).rejects.toBe(reason);
    const { clock, governor } = await known(1);
    await governor.admit(AbortSignal.abort(reason)).catch(() => {});
    await governor.admit(unaborted);
    expect(clock.sleeps).toEqual([]);
  });

  test('rejects all queued requests once their signal aborts', async () => {
    const { clock, governor, ask } = createRig();
    await ask(refused({ 'retry-after': '60' }));
    const controller = new AbortController();
    setMaxListeners(0, controller.signal);
    const line = Array.from({ length: 50 }, () => governor.admit(controller.signal));
    await clock.sleep(1000);
    controller.abort(reason);
    expect(await Promise.allSettled(line)).toEqual(line.map(() => ({ status: 'rejected', reason })));
    expect(clock.monotonic()).toBe(1000);
  });

  test('rejects an aborted wait for another process without announcing a wait of less than a second', async () => {
    const { clock, governor, beside } = createRig();
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

test('announces a wait for the lease of another process after a second', async () => {
  const { clock, governor, beside } = await known(2);
  await governor.admit(unaborted);
  await clock.sleep(5000);
  await beside().governor.admit(unaborted);
  const { governor: last, announced } = beside();
  await last.admit(unaborted);
  expect(announced).toEqual([36_000 - 6065]);
  expect(clock.monotonic()).toBe(fortySeconds);
});

test('calls back every queued caller before one of them waits for the limit', async () => {
  const { governor, ask, clock } = await known(1);
  const released: string[] = [];
  const hold = (name: string) => {
    const beforeWait = async () => void released.push(name);
    return governor.admitSeveral({ min: 1, max: 1, beforeWait }, unaborted);
  };
  const [permit] = await hold('admitted at once');
  await permit.recordResponse(ok(told(0, 10 * second, clock.now()))).persisted;
  expect(released).toEqual([]);
  const waiting = [hold('first'), hold('second')];
  await clock.sleep(1);
  waiting.push(hold('late'));
  const [probe] = await Promise.race(waiting);
  expect(released).toEqual(['first', 'second', 'late']);
  await probe.recordResponse(ok(told(50, 40 * second, clock.now()))).persisted;
  await Promise.all(waiting);
  await ask(refused({ 'retry-after': '5' }));
  await ask(ok());
  await hold('admitted without a wait');
  expect(released).toHaveLength(3);
});

describe('a permit', () => {
  test('refuses to send with a permit that is more than 30 s old', async () => {
    const { clock, governor } = await known(50);
    const permit = await governor.admit(unaborted);
    clock.advance(30_000);
    expect(permit.beginSend).not.toThrow();
    clock.advance(1000);
    expect(permit.beginSend).toThrow(PermitExpiredError);
    // Another admission removes the expired permit from the state.
    await governor.admit(unaborted);
    expect(permit.beginSend).toThrow(PermitExpiredError);
  });

  test('returns how long to wait, at most 32 days, and warns only once about longer waits', async () => {
    const { governor, warnings } = await known(50);
    const permits = await governor.admitSeveral({ min: 1, max: 4 }, unaborted);
    const waits = [undefined, '60', '9999999999', '9999999999'].map(
      (asked, index) => permits[index]?.recordResponse(refused({ 'retry-after': asked })).retryAfter,
    );
    expect(waits).toEqual([undefined, 60_000, 32 * day, 32 * day]);
    expect(warnings).toHaveLength(1);
  });

  test('refuses to send with a permit after a 429 of another process', async () => {
    const { governor, beside } = await known(50);
    const permit = await governor.admit(unaborted);
    await beside().ask(refused({ 'retry-after': '60' }));
    expect(permit.beginSend).toThrow(PermitExpiredError);
  });

  test('refuses to send with a permit after a 429 recorded in the same tick', async () => {
    const limits = new (class extends MemoryLimits {
      override peek = (scope: string) => copyOf(super.peek(scope));
    })();
    const { governor } = await known(50, { limits });
    const [refusing, first, second] = await governor.admitSeveral({ min: 2, max: 3 }, unaborted);
    expect(first?.beginSend).not.toThrow();
    const later = await governor.admit(unaborted);
    expect(later.beginSend).not.toThrow();
    await refusing.recordResponse(refused({ 'retry-after': '60' })).persisted;
    expect(second?.beginSend).toThrow(PermitExpiredError);
  });

  test('counts a forfeited permit against the window, but not a released one', async () => {
    const { clock, governor } = await known(1);
    for (let round = 0; round < 5; round += 1) await (await governor.admit(unaborted)).release();
    expect(clock.monotonic()).toBe(0);
    await (await governor.admit(unaborted)).forfeit();
    await governor.admit(unaborted);
    expect(clock.monotonic()).toBe(fortySeconds);
  });
});

describe('admission of several requests', () => {
  test('admits a request for two permits before a request that came later', async () => {
    const { clock, governor } = await known(1);
    const order: string[] = [];
    const pair = governor.admitSeveral({ min: 2, max: 2 }, unaborted).then(([permit]) => {
      order.push('pair');
      return permit.recordResponse(ok()).persisted;
    });
    const one = governor.admit(unaborted).then(() => order.push('one'));
    await Promise.all([pair, one]);
    expect(order).toEqual(['pair', 'one']);
    expect(clock.monotonic()).toBe(fortySeconds);
  });

  test('admits 2,000 requests in the order in which they came', async () => {
    const { clock, governor, ask } = createRig();
    await ask(ok({ ...told(4000, 40 * second, clock.now()), 'x-ratelimit-limit': '4000' }));
    const all = Array.from({ length: 2000 }, (_, n) => n);
    const order: number[] = [];
    const one = async (n: number) => {
      const permit = await governor.admit(unaborted);
      order.push(n);
      await permit.recordResponse(ok()).persisted;
    };
    await Promise.all(all.map(one));
    expect(order).toEqual(all);
  });
});

describe('a restart of the machine', () => {
  const spent = (resetIn: number) => ok(told(0, resetIn, start + 500_000));
  const gate = refused({ 'retry-after': '60' });
  const in1970 = -50 * 365 * day;

  test.each([
    // response, downtime, downtime by the wall clock, when the next request is sent (all in milliseconds)
    ['waits for the rest of a gate after a restart during it', gate, 5000, 5000, 60_000],
    ['does not wait after a restart that took longer than the gate', gate, 300_000, 300_000, 310_000],
    ['restarts a gate after a restart during it if the wall clock says 1970', gate, 5000, in1970, 75_000],
    ['waits for the rest of a spent window after a restart during it', spent(40 * second), 5000, 5000, 40_006],
    [
      'sends a probe after a restart during a spent window if the wall clock says 1970',
      spent(12 * hour),
      5000,
      in1970,
      15_000,
    ],
  ])('%s', async (_what, answer, away, wallSays, sentAt) => {
    const limits = new MemoryLimits();
    const before = createVirtualClock({ boot: 'one' });
    before.advance(500_000);
    await createRig({ clock: before, limits }).ask(answer);
    const after = createVirtualClock({ boot: 'two', start: before.now() + wallSays });
    after.advance(10_000);
    expect((await createRig({ clock: after, limits, maxWait: day }).ask(ok())) + away).toBe(sentAt);
  });
});

describe('a process that has died', () => {
  /** Returns when the next probe is sent after a process died with the first one. */
  const probeAfter = async (dead: ReturnType<typeof processWith>, isGone: (process: object) => boolean) => {
    const { governor, beside } = createRig({ self: dead });
    await governor.admit(unaborted);
    return beside({ isGone }).ask(ok());
  };

  test.each<[string, Partial<ReturnType<typeof processWith>>]>([
    ['on this machine', {}],
    ['with a reused pid', { pid: 77, startedAt: 'later' }],
    ['in another pid namespace', { pid: 77, namespace: 'pid:[2]' }],
    ['on another host', { pid: 77, host: 'office' }],
  ])('frees the probe of a process at once if the process is known to be dead: %s', async (_what, changes) => {
    const dead = processWith(changes);
    const sentAt = await probeAfter(dead, () => false);
    // The lease of the dead process has ended.
    expect(sentAt).toBeGreaterThanOrEqual(31_000);
    expect(sentAt).toBeLessThanOrEqual(31_250);
    const asked: object[] = [];
    expect(await probeAfter(dead, (process) => asked.push(process) > 0)).toBe(0);
    expect(asked[0]).toEqual(dead);
  });

  test.each([
    [true, 1],
    [false, 4],
  ])('sends one request at a time only in exclusive mode (%s): %i at once', async (exclusive, count) => {
    const { governor } = await known(5, { exclusive });
    expect(await governor.admitSeveral({ min: 1, max: 4 }, unaborted)).toHaveLength(count);
  });

  test('counts the requests of a dead process as sent', async () => {
    const { governor, beside } = await known(5);
    await governor.admitSeveral({ min: 1, max: 5 }, unaborted);
    expect(await beside({ isGone: () => true }).ask(ok())).toBe(fortySeconds);
  });
});

describe('records of the governor', () => {
  /** Limits that log their transactions, and may fail. */
  class Watched extends MemoryLimits {
    readonly log: string[] = [];
    fault: Error | undefined;
    takes = 0;

    constructor(readonly clock: ReturnType<typeof createVirtualClock>) {
      super();
    }

    override async fold(scope: string, records: readonly LimitRecord[]) {
      if (this.fault) throw this.fault;
      this.clock.advance(this.takes);
      this.log.push(records.map(({ type }) => type).join(' '));
      return super.fold(scope, records);
    }
  }
  /** Returns a governor that has sent one request and admitted four more, the first two as `one` and `two`. */
  const started = async (takes = 0) => {
    const limits = new Watched(createVirtualClock());
    const { governor, clock } = await known(50, { limits, clock: limits.clock });
    expect(limits.log.splice(0)).toEqual(['start intent', 'answer']);
    limits.takes = takes;
    const [one, two] = await governor.admitSeveral({ min: 1, max: 4 }, unaborted);
    expect(limits.log.splice(0)).toEqual(['intent']);
    return { governor, clock, store: limits, log: limits.log, one, two };
  };

  const written = () => new Promise((resolve) => setImmediate(resolve));

  test('writes responses with the next admission while other requests are in flight', async () => {
    const { governor, log, one, two } = await started();
    await one.recordResponse(ok()).persisted;
    await two?.forfeit();
    await governor.admit(unaborted);
    expect(log).toEqual(['answer lost intent']);
  });

  test('writes responses after 100 ms, or at a flush', async () => {
    const { governor, log, clock, one, two } = await started();
    await one.recordResponse(ok()).persisted;
    expect(log).toEqual([]);
    await clock.sleep(100);
    await written();
    expect(log).toEqual(['answer']);
    await two?.release();
    await governor.flush();
    await governor.flush();
    expect(log).toEqual(['answer', 'unsent']);
  });

  test.each([
    [5, 100],
    [20, 200],
    [1000, 250],
  ])('waits longer to collect records if writes are slower (%i ms): %i ms', async (takes, delay) => {
    const { store, log, clock, one, two } = await started(takes);
    store.takes = 0;
    const began = clock.monotonic();
    await one.recordResponse(ok()).persisted;
    await two?.forfeit();
    expect(log).toEqual([]);
    await written();
    expect([...log, clock.monotonic() - began]).toEqual(['answer lost', delay]);
  });

  test.each([
    [429, {}],
    [503, { 'retry-after': '5' }],
  ])('writes a %i response at once', async (status, headers) => {
    const { log, one, two } = await started();
    await one.recordResponse(ok()).persisted;
    await two?.recordResponse({ status, headers }).persisted;
    expect(log).toEqual(['answer answer']);
  });

  test("does not send after a 429 that can't be written, and fails the next admission", async () => {
    const { governor, store, log, one, two } = await started();
    store.fault = new Error('full');
    await one.recordResponse(refused()).persisted;
    expect(two?.beginSend).toThrow(PermitExpiredError);
    await expect(governor.admit(unaborted)).rejects.toBe(store.fault);
    store.fault = undefined;
    await governor.flush();
    expect(log).toEqual(['answer']);
  });
});

test.each([
  [true, fortySeconds],
  [false, 0],
])('reserves the last requests for other commands in a bulk run (%s): waits %i ms', async (bulk, wait) => {
  const { clock, waitAfter } = createRig({ bulk });
  expect(await waitAfter(ok(told(2, 40 * second, clock.now())))).toBe(wait);
});
