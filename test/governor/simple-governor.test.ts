import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RateLimitedError } from '../../src/errors.ts';
import { createTransientMemory } from '../../src/governor/memory.ts';
import { createFileMemory } from '../../src/governor/memory-file.ts';
import { createTestClock } from '../support/clock.ts';
import { temporaryFolders } from '../support/shop.ts';
import { createRig, ok, refused, told, unaborted } from './rig.ts';
import { createVirtualClock } from './virtual-clock.ts';

const second = 1000;
const hour = 3_600_000;
const day = 24 * hour;

test('nothing known: requests leave at once', async () => {
  const clock = createTestClock();
  const { governor, announced } = createRig({ clock });
  await Promise.all(Array.from({ length: 20 }, () => governor.admit(unaborted)));
  expect(clock.sleeps).toEqual([]);
  expect(announced).toEqual([]);
  expect(governor.lastSeen).toBeUndefined();
});

test('what an answer told is what was last seen', async () => {
  const clock = createTestClock();
  const { governor, ask } = createRig({ clock });
  await ask(ok(told(57, 40 * second, clock.now())));
  expect(governor.lastSeen).toEqual({
    limit: 60n,
    remaining: 57n,
    reset: 1_768_478_460,
    resetIn: 40_000,
    asOf: clock.now(),
  });
  await ask(ok());
  expect(governor.lastSeen?.remaining).toBe(57n);
});

describe('a spent window', () => {
  test.each([
    ['right', 0],
    ['30 s ahead', 30 * second],
    ['30 s behind', -30 * second],
    ['a day ahead', day],
    ['a day behind', -day],
  ])('is waited for by the clock of the service, where the local one is %s', async (_how, skew) => {
    const clock = createTestClock();
    const { ask, announced } = createRig({ clock });
    const start = clock.monotonic();
    await ask(ok(told(0, 40 * second, clock.now() - skew)));
    const sentAt = await ask(ok());
    expect(sentAt - start).toBe(40_000);
    expect(clock.sleeps).toEqual([15_000, 15_000, 10_000]);
    expect(announced).toEqual([40_000]);
  });

  test('without Date it goes by the local clock', async () => {
    const clock = createTestClock();
    const { ask } = createRig({ clock });
    const { date: _date, ...headers } = told(0, 40 * second, clock.now());
    await ask(ok(headers));
    await ask(ok());
    expect(clock.sleeps).toEqual([15_000, 15_000, 10_000]);
  });

  test('never early: Date is cut to whole seconds', async () => {
    const clock = createTestClock(Date.UTC(2026, 0, 15, 12, 0, 20, 900));
    const { ask } = createRig({ clock });
    const reset = clock.now() + 39_100;
    await ask(ok(told(0, 39_100, clock.now())));
    await ask(ok());
    expect(clock.now()).toBeGreaterThanOrEqual(reset);
  });

  test('counts the requests in flight', async () => {
    const clock = createTestClock();
    const { governor, ask } = createRig({ clock });
    await ask(ok(told(2, 40 * second, clock.now())));
    const inFlight = [await governor.admit(unaborted), await governor.admit(unaborted)];
    expect(clock.sleeps).toEqual([]);
    await governor.admit(unaborted);
    expect(clock.sleeps).toEqual([15_000, 15_000, 10_000]);
    for (const permit of inFlight) permit.lost();
  });

  test('that has ended already is no reason to wait', async () => {
    const clock = createTestClock();
    const { ask } = createRig({ clock });
    await ask(ok(told(0, -10 * second, clock.now())));
    await ask(ok());
    expect(clock.sleeps).toEqual([]);
  });
});

describe('after a 429', () => {
  test.each([
    // Retry-After, X-RateLimit-Reset in, wait
    ['60', 5, 60_000],
    ['0', 5, 1000],
    ['Thu, 15 Jan 2026 12:01:20 GMT', 5, 60_000],
    ['Thursday, 15-Jan-26 12:01:20 GMT', 5, 60_000],
    ['Thu Jan 15 12:01:20 2026', 5, 60_000],
    ['Thu, 15 Jan 2026 11:00:00 GMT', 5, 1000],
    // No usable Retry-After: the end of the window.
    ['-1', 40, 40_000],
    ['1.5', 40, 40_000],
    ['', 40, 40_000],
    ['garbage', 40, 40_000],
    [['30', '60'], 5, 60_000],
    [undefined, 40, 40_000],
  ])('Retry-After %j with a reset in %i s: %i ms', async (retryAfter, reset, wait) => {
    const clock = createTestClock();
    const { ask } = createRig({ clock });
    const first = await ask(refused({ ...told(1, reset * second, clock.now()), 'retry-after': retryAfter }));
    expect((await ask(ok())) - first).toBe(wait);
  });

  test('a date in Retry-After goes by the clock of the service', async () => {
    const clock = createTestClock();
    const { ask } = createRig({ clock });
    const theirs = clock.now() - day;
    const retryAfter = new Date(theirs + 60_000).toUTCString();
    const first = await ask(refused({ ...told(1, 5 * second, theirs), 'retry-after': retryAfter }));
    expect((await ask(ok())) - first).toBe(60_000);
  });

  test('without any header: 60 s', async () => {
    const clock = createTestClock();
    const { ask } = createRig({ clock });
    const first = await ask(refused());
    expect((await ask(ok())) - first).toBe(60_000);
  });

  test('a reset that an earlier answer told is not taken for one of this answer', async () => {
    const clock = createTestClock();
    const { ask } = createRig({ clock });
    await ask(ok(told(5, 10 * second, clock.now())));
    const first = await ask(refused());
    expect((await ask(ok())) - first).toBe(60_000);
  });

  test('never sent inside the gate, whatever the jitter, and however the wall clock is stepped ahead', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 80 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.integer({ min: 0, max: 2 * day }),
        async (asked, chance, step) => {
          const clock = createTestClock();
          const { ask } = createRig({ clock, random: () => chance });
          const first = await ask(refused({ 'retry-after': String(asked) }));
          clock.step(step);
          const waited = (await ask(ok())) - first;
          expect(waited).toBeGreaterThanOrEqual(asked * second);
          expect(waited).toBeLessThanOrEqual(asked * 1100);
        },
      ),
    );
  });

  test('14 h are refused at once, with the time at which it works again', async () => {
    const clock = createTestClock();
    const { governor, ask } = createRig({ clock });
    await ask(refused({ 'retry-after': '50400' }));
    await expect(governor.admit(unaborted)).rejects.toMatchObject({ exit: 'rateLimited', retryAfterSeconds: 50_400 });
    expect(clock.sleeps).toEqual([]);
  });

  test('14 h are waited for, in slices, where that is allowed', async () => {
    const clock = createTestClock();
    const { ask } = createRig({ clock, maxWait: day });
    await ask(refused({ 'retry-after': '50400' }));
    await ask(ok());
    expect(Math.max(...clock.sleeps)).toBe(15_000);
    expect(clock.sleeps.reduce((sum, ms) => sum + ms, 0)).toBe(14 * hour);
  });

  test.each(['9999999999', '9'.repeat(30), '9'.repeat(400)])(
    'Retry-After of %s keeps the gate shut',
    async (retryAfter) => {
      const clock = createTestClock();
      const { governor, ask } = createRig({ clock });
      await ask(refused({ 'retry-after': retryAfter }));
      clock.advance(365 * day);
      const error = await governor.admit(unaborted).catch((reason) => reason);
      expect(error).toBeInstanceOf(RateLimitedError);
      expect(error.retryAfterSeconds).toBeGreaterThan(9_000_000_000);
      expect(error.retryAfterSeconds).toBeLessThan(Number.MAX_SAFE_INTEGER);
    },
  );
});

describe('episodes', () => {
  test('429s of requests in flight are one episode', async () => {
    const clock = createTestClock();
    const { governor, ask } = createRig({ clock });
    const permits = await Promise.all(Array.from({ length: 10 }, () => governor.admit(unaborted)));
    const start = clock.monotonic();
    for (const permit of permits) permit.answered(refused({ 'retry-after': '2' }));
    expect((await ask(ok())) - start).toBe(2000);
  });

  test('the gate is at the latest of what they asked for', async () => {
    const clock = createTestClock();
    const { governor, ask } = createRig({ clock });
    const permits = await Promise.all(Array.from({ length: 3 }, () => governor.admit(unaborted)));
    const start = clock.monotonic();
    for (const seconds of ['3', '7', '5']) permits.pop()?.answered(refused({ 'retry-after': seconds }));
    expect((await ask(ok())) - start).toBe(7000);
  });

  test('the wait doubles from one to the next', async () => {
    const clock = createTestClock();
    const { ask } = createRig({ clock });
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
    await expect(governor.admit(unaborted)).rejects.toMatchObject({ exit: 'rateLimited', retryAfterSeconds: 5 });
    expect(clock.sleeps).toEqual([5000, 5000]);
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
    const clock = createTestClock();
    const { governor, ask } = createRig({ clock });
    const slow = await governor.admit(unaborted);
    await ask(refused({ 'retry-after': '0' }));
    slow.answered(ok());
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
    const permits = await Promise.all(Array.from({ length: 10 }, () => governor.admit(unaborted)));
    expect(permits).toHaveLength(10);
    expect(clock.monotonic() - start).toBe(40_000);
  });

  test('counts two waits that follow one another, with many requests in each', async () => {
    const clock = createVirtualClock();
    const { governor, ask } = createRig({ clock });
    const admitMany = () => Promise.all(Array.from({ length: 10 }, () => governor.admit(unaborted)));
    await ask(refused({ 'retry-after': '50' }));
    for (const permit of await admitMany()) permit.answered(ok());
    await ask(refused({ 'retry-after': '41' }));
    await expect(admitMany()).rejects.toMatchObject({ retryAfterSeconds: 41 });
  });
});

describe('an abort', () => {
  const reason = new Error('Ctrl-C');

  test('during a wait', async () => {
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
});

describe('two governors with one folder', () => {
  const scope = 'a'.repeat(32);

  test('the second one waits behind the gate of the first', async () => {
    const { state } = await temporaryFolders();
    const clock = createTestClock();
    const open = () => createRig({ clock, memory: createFileMemory(state, scope, () => {}) });
    const first = await open().ask(refused({ 'retry-after': '60' }));
    expect((await open().ask(ok())) - first).toBe(60_000);
  });

  test('the second one, too impatient, sends nothing', async () => {
    const { state } = await temporaryFolders();
    const clock = createTestClock();
    const memory = () => createFileMemory(state, scope, () => {});
    await createRig({ clock, memory: memory() }).ask(refused({ 'retry-after': '50400' }));
    const { governor } = createRig({ clock, memory: memory() });
    await expect(governor.admit(unaborted)).rejects.toMatchObject({ retryAfterSeconds: 50_400 });
  });

  test('a gate that is raised while the other one waits holds it as well', async () => {
    const { state } = await temporaryFolders();
    const clock = createTestClock();
    const memory = () => createFileMemory(state, scope, () => {});
    const other = memory();
    const start = clock.monotonic();
    const sleep: typeof clock.sleep = (ms, signal) => {
      if (clock.sleeps.length === 0) other.raiseGate(clock.now() + 80_000);
      return clock.sleep(ms, signal);
    };
    const { ask } = createRig({ clock: { ...clock, sleep }, memory: memory() });
    await ask(refused({ 'retry-after': '30' }));
    expect((await ask(ok())) - start).toBe(80_000);
  });

  test('the second one waits for a window that the first one has spent', async () => {
    const { state } = await temporaryFolders();
    const clock = createTestClock();
    const open = () => createRig({ clock, memory: createFileMemory(state, scope, () => {}) });
    const first = await open().ask(ok(told(0, 40 * second, clock.now() - day)));
    expect((await open().ask(ok())) - first).toBe(40_000);
  });

  test('another key is not held up', async () => {
    const { state } = await temporaryFolders();
    const clock = createTestClock();
    const open = (name: string) => createRig({ clock, memory: createFileMemory(state, name, () => {}) });
    await open(scope).ask(refused({ 'retry-after': '60' }));
    await open('b'.repeat(32)).ask(ok());
    expect(clock.sleeps).toEqual([]);
  });
});

test('a folder that takes no file: told once, and the gate holds in this process', async () => {
  const { state } = await temporaryFolders();
  mkdirSync(state);
  writeFileSync(join(state, 'limits'), 'a file where the folder should be');
  const reasons: Error[] = [];
  const clock = createTestClock();
  const memory = createFileMemory(state, 'a'.repeat(32), (reason) => reasons.push(reason));
  const { ask } = createRig({ clock, memory });
  await ask(ok(told(5, 40 * second, clock.now())));
  await ask(ok(told(4, 40 * second, clock.now())));
  const first = await ask(refused({ 'retry-after': '60' }));
  expect((await ask(ok())) - first).toBe(60_000);
  expect(reasons).toHaveLength(1);
  expect(reasons[0]?.message).toMatch(/EEXIST|ENOTDIR/);
});

test('a memory of another process that says nothing is left changes nothing for this one', async () => {
  const clock = createTestClock();
  const memory = createTransientMemory();
  memory.rememberLimits({ env: 'x', limit: 60n, remaining: 0n, resetAt: clock.now() + 5000, asOf: clock.now() });
  const { ask } = createRig({ clock, memory });
  await ask(ok());
  expect(clock.sleeps).toEqual([5000]);
});
