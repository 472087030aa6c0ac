import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { memoizePerTick } from '../../src/rate-limit/governor.ts';
import { createSystemClock } from '../../src/shared/clock.ts';

/** Counts its calls, on a monotonic clock that stands still until it is set. */
function looking(turn?: () => object, maxAge?: number) {
  const time = { at: 1000 };
  let looks = 0;
  const count = () => {
    looks += 1;
    return looks;
  };
  const look = memoizePerTick({ monotonic: () => time.at, ...(turn && { turn }) }, count, {
    ...(maxAge && { maxAge }),
  });
  return { time, look };
}

describe('memoizePerTick', () => {
  test('calls a memoized function once for all who ask within one tick', async () => {
    const { look } = looking(createSystemClock(process.hrtime.bigint).turn);
    expect([look(), look()]).toEqual([1, 1]);
    await Promise.resolve();
    expect(look()).toBe(1);
    await nextTurn();
    expect([look(), look()]).toEqual([2, 2]);
  });

  test('calls a memoized function again within one tick after more than 1 ms', () => {
    const turn = {};
    const { time, look } = looking(() => turn);
    expect(look()).toBe(1);
    time.at += 1;
    expect(look()).toBe(1);
    time.at += 0.5;
    expect([look(), look()]).toEqual([2, 2]);
  });

  test('shares one result between ticks for `maxAge` milliseconds', () => {
    const { time, look } = looking(() => ({}), 10);
    expect(look()).toBe(1);
    time.at += 9.9;
    expect(look()).toBe(1);
    time.at += 0.1;
    expect([look(), look()]).toEqual([2, 2]);
  });

  test('calls a memoized function each time if the clock knows no ticks', () => {
    const { look } = looking();
    expect([look(), look()]).toEqual([1, 2]);
  });
});
