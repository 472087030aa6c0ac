import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { GateFile } from '../../src/rate-limit/gate-file.ts';
import { knownKeys, knownLimits } from '../../src/rate-limit/known-limits.ts';
import { type LimitsStore, limitsInMemory } from '../../src/rate-limit/limits-row.ts';
import { PermitExpiredError, type ResponseHead, releaseAll } from '../../src/rate-limit/permits.ts';
import { RateLimitedError } from '../../src/shared/errors.ts';
import { openSqlite } from '../../src/state/sqlite.ts';
import { newFolder } from '../support/new-folder.ts';
import fc, { property } from '../support/properties.ts';
import { createRig, known, ok, refused, scope, told, unaborted } from './rig.ts';
import { createVirtualClock } from './virtual-clock.ts';

const second = 1000;
const hour = 3_600_000;
const day = 24 * hour;
const start = Date.UTC(2026, 0, 15, 12, 0, 20);
/** The rest of a window that ends in 40 s, plus the possible drift between two clocks, in whole milliseconds. */
const fortySeconds = 40_009;

test('returns the last reported limits, and subtracts later requests from the known limits', async () => {
  const { clock, limits, ask } = createRig();
  expect(limits.lastSeen).toBeUndefined();
  // The service's clock is an hour behind ours.
  await ask(ok(told(57, 40 * second, clock.now() - hour)));
  const times = { reset: 1_768_478_460_000 - hour, resetAt: 1_768_478_460_000 };
  const seen = { limit: 60, remaining: 57, ...times, asOf: clock.now() };
  expect(limits.lastSeen).toEqual(seen);
  await ask(ok());
  expect(limits.lastSeen).toEqual(seen);
  const ofMinute = { kind: 'minute', limit: 60, remaining: 56, resetAt: 1_768_478_460_000 - hour, asOf: clock.now() };
  expect(knownLimits(limits.state, limits.now)).toEqual([{ ...ofMinute, isOver: false }]);
  await ask(ok({ ...told(5, 43_180_000, clock.now() - hour), 'x-ratelimit-limit': '1000' }));
  expect(knownLimits(limits.state, limits.now)).toMatchObject([
    { kind: 'minute', limit: 60, remaining: 55 },
    { kind: 'day', limit: 1000, remaining: 5 },
  ]);
});

const at = (ms: number) => new Date(start + ms).toUTCString();
const ofThousand = { 'x-ratelimit-limit': '1000' };
const asking = (retryAfter: string | undefined, resetIn = 5 * second) =>
  refused({ ...told(1, resetIn, start), 'retry-after': retryAfter });
const withRetryAfter = (status: number, retryAfter: string): ResponseHead => ({
  status,
  headers: { 'retry-after': retryAfter },
});

// These tests run under TZ=America/New_York.
test.each<[string, ResponseHead | readonly ResponseHead[], number]>([
  ['a spent window', ok(told(0, 40 * second, start)), fortySeconds],
  ['a spent window, by a service clock a day ahead of ours', ok(told(0, 40 * second, start + day)), fortySeconds],
  ['a reset in the year 9999', ok({ ...told(0, 40 * second, start), 'x-ratelimit-reset': '253402300799' }), 0],
  ['a limit of 1000 with a reset 45 s away: a minute', ok({ ...told(0, 45 * second, start), ...ofThousand }), 45_010],
  ['a 429 without headers after an answer that reported a reset', [ok(told(5, 40 * second, start)), refused()], 60_000],
  ['Retry-After beside an earlier reset', asking('60'), 60_000],
  ['Retry-After twice', refused({ 'retry-after': ['30', '70'] }), 70_000],
  ['no Retry-After: the end of the window', asking(undefined, 40 * second), 40_000],
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
  ['a 403 with Retry-After', withRetryAfter(403, '30'), 30_000],
])('waits exactly as long as needed after %s', async (_what, answers, wait) => {
  const { announced, ask, waitAfter } = createRig({ maxWait: hour });
  const [last = ok(), ...earlier] = [answers].flat().toReversed();
  for (const answer of earlier) await ask(answer);
  expect(await waitAfter(last)).toBe(wait);
  expect(announced).toEqual(wait === 0 ? [] : [wait]);
});

test.each([
  ['33 days', `${33 * 86_400}`],
  ['more than a year', '253370764800'],
  ['more than a year', '9'.repeat(400)],
])('closes the gate for 32 days, and says so, if the service asks for a wait of %s', async (wait, asked) => {
  const { clock, limits, ask, warnings } = createRig({ maxWait: 0 });
  await ask(refused({ 'retry-after': asked }));
  const said = `The service asked for a wait of ${wait}. petstock waits at most 32 days`;
  expect(warnings).toEqual([`${said}. To clear the wait: petstock limits clear`]);
  clock.advance(32 * day - second);
  await expect(limits.admitOne(unaborted)).rejects.toMatchObject({ kind: 'rate-limited', retryAfterSeconds: 1 });
  clock.advance(second);
  await limits.admitOne(unaborted);
});

describe('a wall clock that is stepped', () => {
  property(
    'never ends a gate early if it is set back, and makes it last twice as long at most',
    [fc.integer({ min: 2, max: 80 }), fc.integer({ min: second, max: 2 * day }), fc.nat(79)],
    async (asked, back, passed) => {
      const { clock, ask, beside } = createRig({ maxWait: hour });
      const first = await ask(refused({ 'retry-after': String(asked) }));
      clock.advance(Math.min(passed, asked - 1) * second);
      clock.step(-back);
      const waited = (await beside({ maxWait: hour }).ask(ok())) - first;
      expect(waited).toBeGreaterThanOrEqual(asked * second);
      expect(waited).toBeLessThanOrEqual(2 * asked * second + 1);
    },
  );

  test.each([-hour, -day])('keeps a spent window if it is set back by %i ms', async (step) => {
    const { clock, ask, beside } = createRig();
    const first = await ask(ok(told(0, 40 * second, clock.now())));
    clock.step(step);
    const waited = (await beside().ask(ok())) - first;
    expect(waited).toBeGreaterThanOrEqual(40 * second);
    expect(waited).toBeLessThanOrEqual(fortySeconds + 1);
  });

  test('sends one request, not all that were admitted, if it is set forward beyond a new gate', async () => {
    const { limits, clock, store } = await known(20);
    const { permits } = await admit(limits, store, 4);
    await permits.shift()?.recordResponse(refused({ 'retry-after': '10' })).persisted;
    clock.step(15 * second);
    await limits.refresh();
    for (const permit of permits) expect(() => permit.beginSend()).toThrow(PermitExpiredError);
    await releaseAll(permits);
    expect((await admit(limits, store, 4)).permits).toHaveLength(1);
  });

  test('sends no probe if another process has closed the gate since it was admitted', async () => {
    const { limits, store, clock, folders } = createRig();
    const [probe] = (await admit(limits, store, 1)).permits;
    const gate = { at: clock.now() + 10 * second, length: 10 * second, reason: 'refused' } as const;
    new GateFile(folders, clock).write(scope, gate);
    expect(() => probe?.beginSend()).toThrow(PermitExpiredError);
  });

  test.each([hour, day])('sends one request as a probe if it is set forward by %i ms', async (step) => {
    const { clock, ask, beside } = createRig();
    await ask(ok(told(0, 40 * second, clock.now())));
    clock.step(step);
    await beside().limits.admitOne(unaborted);
    const { limits, store } = beside();
    const { permits } = await admit(limits, store, 1);
    expect(permits).toEqual([]);
  });
});

test.each([
  [60, "Today's 60 requests are used up"],
  [1, "Today's only request is used up"],
])('refuses to wait for the next day by default with a daily limit of %i', async (limit, message) => {
  const { clock, limits, ask } = createRig();
  await ask(ok({ ...told(0, 12 * hour, clock.now()), 'x-ratelimit-limit': `${limit}` }));
  const refusal = { retryAfterSeconds: 43_209, day: { limit, resetAt: clock.now() + 12 * hour }, message };
  await expect(limits.admitOne(unaborted)).rejects.toMatchObject({ kind: 'rate-limited', ...refusal });
  expect(clock.sleeps).toEqual([]);
});

test('waits up to a second longer for a window if other users use the key', async () => {
  const { clock, limits, ask } = createRig({ random: () => 0.5 });
  for (const left of [50, 0]) await ask(ok(told(left, 40 * second, clock.now())));
  await limits.admitOne(unaborted);
  expect(clock.monotonic()).toBeGreaterThanOrEqual(fortySeconds + 400);
  expect(clock.monotonic()).toBeLessThanOrEqual(fortySeconds + 2000);
});

test('refuses every process after three 429s in a row until the gate lifts', async () => {
  const { clock, beside } = createRig();
  for (let episode = 1; episode <= 3; episode += 1) await beside().ask(refused({ 'retry-after': '5' }));
  expect(clock.sleeps).toEqual([5000, 5000]);
  const { limits } = beside();
  await expect(limits.admitOne(unaborted)).rejects.toMatchObject({ kind: 'rate-limited', retryAfterSeconds: 5 });
  clock.advance(5000);
  await limits.admitOne(unaborted);
});

test("reports a spent limit, not an outage, if the limit lasts longer than a 503's Retry-After", async () => {
  const { ask, beside } = createRig();
  await ask({ status: 503, headers: { ...told(0, 40 * second, start), 'retry-after': '10' } });
  await expect(beside({ maxWait: 20_000 }).limits.admitOne(unaborted)).rejects.toThrow(RateLimitedError);
});

describe('the longest wait', () => {
  test('is for all waits of a command together', async () => {
    const { clock, limits, ask } = createRig({ maxWait: 90 * second });
    await ask(refused({ 'retry-after': '50' }));
    await ask(ok());
    await ask(refused({ 'retry-after': '41' }));
    await expect(limits.admitOne(unaborted)).rejects.toMatchObject({ retryAfterSeconds: 41 });
    expect(clock.sleeps.reduce((sum, ms) => sum + ms, 0)).toBe(50_000);
  });

  test('is for each wait of a bulk run', async () => {
    const { clock, ask } = createRig({ maxWait: 60 * second, isBoundPerWait: true });
    for (let round = 0; round < 2; round += 1) {
      await ask(refused({ 'retry-after': '50' }));
      await ask(ok());
    }
    expect(clock.monotonic()).toBe(100 * second);
  });

  test('may be exactly as long as the wait', async () => {
    const { ask, waitAfter, clock, beside } = createRig({ maxWait: 60 * second });
    expect(await waitAfter(refused({ 'retry-after': '60' }))).toBe(60_000);
    await ask(ok(told(0, second, clock.now())));
    await expect(beside({ maxWait: 0 }).limits.admitOne(unaborted)).rejects.toBeInstanceOf(RateLimitedError);
  });
});

describe('an abort of an admission', () => {
  const reason = new Error('Ctrl-C');

  test('ends a wait at once', async () => {
    const { clock, limits, ask } = createRig();
    await expect(limits.admitOne(AbortSignal.abort(reason))).rejects.toBe(reason);
    await ask(refused({ 'retry-after': '60' }));
    const controller = new AbortController();
    const ended = limits.admitOne(controller.signal);
    const outcome = expect(ended).rejects.toBe(reason);
    await clock.sleep(1000);
    controller.abort(reason);
    await outcome;
    expect(clock.monotonic()).toBe(1000);
  });
});

test('tells after a second that requests of another process hold this one up', async () => {
  const { limits, beside, clock } = createRig();
  await limits.admitOne(unaborted);
  const told: unknown[] = [];
  const other = beside({ onWait: (ms, reason) => told.push([ms, reason]) });
  await other.limits.admitOne(unaborted);
  expect(clock.monotonic()).toBeGreaterThanOrEqual(31_000);
  expect(clock.monotonic()).toBeLessThanOrEqual(31_300);
  expect(told).toEqual([[expect.closeTo(29_900, -3), 'pending']]);
  await expect(beside({ maxWait: 0 }).limits.admitOne(unaborted)).rejects.toBeInstanceOf(RateLimitedError);
  expect(clock.monotonic()).toBeLessThanOrEqual(33_000);
});

test.each([
  [true, fortySeconds],
  [false, 0],
])('reserves the last requests for other commands in a bulk run (%s): waits %i ms', async (isBulk, wait) => {
  const { clock, waitAfter } = createRig({ isBulk });
  expect(await waitAfter(ok(told(2, 40 * second, clock.now())))).toBe(wait);
});

/** Asks for permits once, without waiting. */
function admit(limits: ReturnType<typeof createRig>['limits'], store: LimitsStore, max: number, min: 1 | 2 = 1) {
  return store.transact([limits.reading], ([rows], moment) => {
    const admission = limits.admit(rows?.[0], moment, { min, max });
    return { writes: admission.writes, result: admission };
  });
}

describe('permits', () => {
  test.each([
    ['a minute with 1 left', 1, 50, 1],
    ['a minute with 20 left', 20, 50, 20],
  ])('are never more than what is left: %s', async (_what, left, max, expected) => {
    const { limits, store } = await known(left);
    const { permits } = await admit(limits, store, max);
    expect(permits).toHaveLength(expected);
  });

  test('are not given with two keys at once for the wrong one', async () => {
    const { ask, beside, clock } = createRig();
    await ask(refused({ 'retry-after': '60' }));
    await beside({ scope: '2'.repeat(32), store: limitsInMemory(clock) }).ask(ok());
    expect(clock.sleeps).toEqual([]);
  });

  test('expire with a 429 of another process, even before that has written its row', async () => {
    const { clock, store, beside } = await known(50);
    const { limits } = beside();
    const permit = await limits.admitOne(unaborted);
    // The database is locked from now on.
    const locked = { ...store, transact: () => new Promise<never>(() => {}) };
    const other = beside();
    const others = await admit(other.limits, store, 1);
    void beside({ store: locked });
    others.permits[0]?.recordResponse(refused({ 'retry-after': '60' }));
    expect(clock.monotonic()).toBe(0);
    expect(permit.beginSend).toThrow(PermitExpiredError);
  });

  test('expire with a 429 that was recorded in the same moment', async () => {
    const { limits, store } = await known(50);
    const [refusing, another] = (await admit(limits, store, 3)).permits;
    expect(another?.beginSend).not.toThrow();
    void refusing?.recordResponse(refused({ 'retry-after': '60' }));
    expect(another?.beginSend).toThrow(PermitExpiredError);
  });

  test('expire with their time, and in a shared state with knowledge that is older than a second', async () => {
    const rig = await known(50);
    const { limits, clock } = rig.beside({ store: { ...rig.store, isFreshFor: 250 } });
    const permit = await limits.admitOne(unaborted);
    clock.advance(999);
    expect(permit.beginSend).not.toThrow();
    clock.advance(1);
    expect(permit.beginSend).toThrow(PermitExpiredError);
    await limits.refresh();
    expect(permit.beginSend).not.toThrow();
    clock.advance(30_000);
    await limits.refresh();
    expect(permit.beginSend).toThrow(PermitExpiredError);
    const own = await rig.beside().limits.admitOne(unaborted);
    clock.advance(30_000);
    expect(own.beginSend).not.toThrow();
    clock.advance(1000);
    expect(own.beginSend).toThrow(PermitExpiredError);
  });

  test('count against the window if forfeited, but not if released', async () => {
    const { clock, limits } = await known(1);
    for (let round = 0; round < 5; round += 1) await (await limits.admitOne(unaborted)).release();
    expect(clock.monotonic()).toBe(0);
    await (await limits.admitOne(unaborted)).forfeit();
    await limits.admitOne(unaborted);
    expect(clock.monotonic()).toBe(fortySeconds);
  });

  test('of a process that was killed count as used when their time is over', async () => {
    const { limits, store, beside, clock } = await known(5);
    await admit(limits, store, 5);
    clock.advance(31_000);
    await beside().ask(ok());
    expect(clock.monotonic()).toBe(fortySeconds);
  });

  test('are given for a pair together, but for a single probe where nothing is known', async () => {
    const { limits, store } = await known(1);
    expect((await admit(limits, store, 2, 2)).permits).toEqual([]);
    const fresh = createRig();
    expect((await admit(fresh.limits, fresh.store, 2, 2)).permits).toHaveLength(1);
  });
});

describe('a state that fails', () => {
  /** A store whose writes fail from now on, or never end. */
  const failing = (store: LimitsStore, fault: Error): LimitsStore => ({
    ...store,
    transact: async (questions, decide) => {
      // The change is decided and then rolled back.
      await store.ask(questions).then(({ answers, moment }) => decide(answers, moment));
      throw fault;
    },
  });
  const full = new Error('database or disk is full');

  test('forgets no Retry-After, since the gate is in the file', async () => {
    const { clock, store, beside } = await known(50);
    const { limits } = beside();
    const { permits } = await admit(limits, store, 1);
    const rigged = beside({ store: failing(store, full) });
    const own = (await admit(rigged.limits, store, 1)).permits[0];
    await own?.recordResponse(refused({ 'retry-after': '60' })).persisted;
    expect(rigged.warnings).toEqual([]);
    expect(permits[0]?.beginSend).toThrow(PermitExpiredError);
    await beside().ask(ok());
    expect(clock.monotonic()).toBe(60_000);
  });

  test('folds what was rolled back once more, and only once', async () => {
    const { store, beside } = await known(10);
    let isFailing = false;
    const flaky: LimitsStore = {
      ...store,
      transact: (...given) => (isFailing ? failing(store, full) : store).transact(...given),
    };
    const { limits } = beside({ store: flaky });
    const { permits } = await admit(limits, flaky, 2);
    for (const permit of permits) await permit.forfeit();
    isFailing = true;
    await expect(limits.save()).rejects.toBe(full);
    await expect(admit(limits, flaky, 1)).rejects.toBe(full);
    isFailing = false;
    await admit(limits, flaky, 1);
    await limits.save();
    const other = beside().limits;
    await other.refresh();
    expect(other.state.windows.minute?.left).toBe(8);
  });

  test('warns where neither state nor folder takes the gate, and keeps it in its own process', async () => {
    const root = newFolder();
    const blocked = [join(root, 'file')];
    writeFileSync(blocked[0] ?? '', '');
    const { store, clock } = await known(50);
    const rig = createRig({ clock, store: failing(store, full), folders: blocked });
    const [own, another] = (await admit(rig.limits, store, 2)).permits;
    await own?.recordResponse(refused({ 'retry-after': '60' })).persisted;
    expect(rig.warnings).toEqual([expect.stringContaining("asked for a wait of 60 s, but it can't be saved")]);
    expect(another?.beginSend).toThrow(PermitExpiredError);
    await rig.limits.refresh();
    expect(another?.beginSend).toThrow(PermitExpiredError);
  });
});

describe('the limits of all keys', () => {
  const opened = async () => {
    const folder = newFolder();
    const clock = createVirtualClock();
    const store = await openSqlite({ folder, clock });
    const gates = new GateFile([folder], clock);
    return { ...createRig({ store, clock, folders: [folder] }), gates, store };
  };

  test('are those of the rows, with the gates of the file', async () => {
    const { ask, beside, store, gates, clock } = await opened();
    await ask(ok(told(50, 40 * second, clock.now())));
    const other = { scope: '2'.repeat(32), target: 'production' };
    await beside(other).ask(refused({ 'retry-after': '60' }));
    gates.write('3'.repeat(32), { at: clock.now() + 5000, length: 5000, reason: 'refused' });
    const keys = await knownKeys(store, gates, clock);
    expect(keys.map(({ scope, state }) => [scope[0], state.target, state.gate.at])).toEqual([
      ['1', 'staging', 0],
      ['2', 'production', clock.now() + 60_000],
      ['3', '', clock.now() + 5000],
    ]);
    expect(await knownKeys(undefined, gates, clock)).toHaveLength(2);
    await store.close();
  });
});
