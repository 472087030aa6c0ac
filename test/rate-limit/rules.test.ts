import { describe, expect, test } from 'vitest';
import { narrow } from '../../src/rate-limit/clock-offset.ts';
import { emptyState, type InFlight, type KeyState } from '../../src/rate-limit/key-state.ts';
import { decide, spentDay, type Wish } from '../../src/rate-limit/rules.ts';
import { observe, type Window } from '../../src/rate-limit/window.ts';

const start = 1_768_478_400_000;
const at = 10_000;

/** Told at the monotonic 0, when the service's clock said `start`. */
const window = (left: number, endsIn = 40_000, limit = 60): Window => ({
  ...observe(
    undefined,
    {
      reset: start + endsIn,
      limit,
      remaining: left,
      sentAt: 0,
      receivedAt: 0,
      asOf: 0,
      meanwhile: 0,
      missed: 0,
      refused: false,
      tolerance: 1000,
    },
    false,
  ),
});
const inFlight = (count: number, changes: Partial<InFlight> = {}): KeyState['inFlight'] =>
  new Map(
    Array.from({ length: count }, (_, n) => [
      `r${n}`,
      { by: '', sentAt: 0, expires: 31_000, probe: false, overBefore: 0, ...changes },
    ]),
  );
const state = (changes: Partial<KeyState>): KeyState => ({
  ...emptyState(),
  offset: narrow(undefined, { date: start, sentAt: 0, receivedAt: 0 }),
  ...changes,
});
const gate = (until: number) => ({ at: until, wall: 0, length: 0, reason: 'refused' as const });

const go = { go: true, probe: false, places: expect.any(Number) };
const probe = { go: true, probe: true, places: 1 };
const one: Wish = { bulk: false, least: 1 };
const two: Wish = { bulk: false, least: 2 };
const bulk: Wish = { bulk: true, least: 1 };
const wait = { go: false, until: undefined };
const until = (time: number) => ({ go: false, until: expect.closeTo(time, 0) });

test.each<[string, Partial<KeyState>, object]>([
  ['nothing known', {}, probe],
  ['nothing known, a probe in flight', { inFlight: inFlight(1, { probe: true }) }, wait],
  ['nothing known, a dead probe', { inFlight: inFlight(1, { probe: true, expires: at }) }, probe],
  ['nothing known, others in flight', { inFlight: inFlight(5) }, probe],
  ['a gate', { gate: gate(at + 1), windows: { minute: window(50) } }, until(at + 1)],
  ['a gate that has just lifted', { gate: gate(at), windows: { minute: window(50) } }, go],
  ['after a gate', { halfOpen: true, windows: { minute: window(50) } }, probe],
  ['after a gate, a probe in flight', { halfOpen: true, inFlight: inFlight(1, { probe: true }) }, wait],
  ['some left', { windows: { minute: window(1) } }, go],
  ['none left', { windows: { minute: window(0) } }, until(40_008)],
  ['fewer than none', { windows: { minute: window(-3) } }, until(40_008)],
  ['beside others, three in flight', { foreignRate: 1, windows: { minute: window(55) }, inFlight: inFlight(3) }, go],
  ['beside others, four in flight', { foreignRate: 1, windows: { minute: window(55) }, inFlight: inFlight(4) }, wait],
  ['all left are in flight', { windows: { minute: window(3) }, inFlight: inFlight(3) }, wait],
  [
    'all left are in flight until a moment later',
    { windows: { minute: window(3) }, inFlight: inFlight(3, { expires: at + 1 }) },
    wait,
  ],
  ['all but one are in flight', { windows: { minute: window(3) }, inFlight: inFlight(2) }, go],
  [
    'all left were taken by the dead',
    { windows: { minute: window(3) }, inFlight: inFlight(3, { expires: at }) },
    until(40_008),
  ],
  ['a window that has ended', { windows: { minute: window(0, 9000) } }, probe],
  [
    'one that has ended, a probe in flight',
    { windows: { minute: window(0, 9000) }, inFlight: inFlight(1, { probe: true }) },
    wait,
  ],
  ['the minute spent, not the day', { windows: { minute: window(0), day: window(9, 9e6) } }, until(40_008)],
  ['the day spent, not the minute', { windows: { minute: window(9), day: window(0, 9e6) } }, until(9e6 + 1800)],
  ['both spent', { windows: { minute: window(0), day: window(0, 9e6) } }, until(9e6 + 1800)],
  ['the day ended, the minute not', { windows: { minute: window(9), day: window(0, 9000) } }, probe],
  ['the day spent, the minute ended', { windows: { minute: window(9, 9000), day: window(0, 9e6) } }, until(9e6 + 1800)],
  ['after a gate, the minute spent', { halfOpen: true, windows: { minute: window(0) } }, until(40_008)],
  ['no clock', { offset: undefined, windows: { minute: window(9) } }, probe],
])('what may go: %s', (_what, changes, verdict) => {
  expect(decide(state(changes), at, one)).toEqual(verdict);
});

test.each([
  // limit, left, verdict
  [60, 3, go],
  [60, 2, until(40_008)],
  [1000, 21, go],
  [1000, 20, until(40_008)],
  [8, 3, go],
  [8, 2, until(40_008)],
  [4, 2, go],
  [4, 1, until(40_008)],
  [3, 1, go],
  [1, 1, go],
])('a bulk run leaves some to people of %i, %i are left', (limit, left, verdict) => {
  expect(decide(state({ windows: { minute: window(left, 40_000, limit) } }), at, bulk)).toEqual(verdict);
});

describe('where others use the key', () => {
  test.each([
    // rate, left, in flight, verdict: 10 s have passed since it was told
    [0, 1, 0, go],
    [0.1, 3, 0, go],
    [0.1, 2, 0, until(40_008)],
    [2, 22, 0, go],
    [2, 21, 0, until(40_008)],
    [2, 24, 1, go],
    [2, 23, 1, wait],
  ])('%f per second, %i left, %i in flight', (foreignRate, left, count, verdict) => {
    expect(
      decide(state({ foreignRate, windows: { minute: window(left) }, inFlight: inFlight(count) }), at, one),
    ).toEqual(verdict);
  });

  test('what they may have sent during a round trip is left alone, too', () => {
    const known = (left: number) => state({ foreignRate: 2, roundTrip: 2000, windows: { minute: window(left) } });
    expect(decide(known(26), at, one)).toEqual(go);
    expect(decide(known(25), at, one)).toEqual(until(40_008));
    const later = (left: number) => state({ foreignRate: 2, windows: { minute: { ...window(left), toldAt: 5000 } } });
    expect(decide(later(12), at, one)).toEqual(go);
    expect(decide(later(11), at, one)).toEqual(until(40_008));
  });

  test('the dead do not stand for others: nobody waits for an answer that will not come', () => {
    const dead = inFlight(20, { expires: at });
    const known = { foreignRate: 0.1, windows: { minute: window(30) }, inFlight: dead };
    expect(decide(state(known), at, one)).toEqual(go);
  });
});

test.each<[string, Partial<KeyState>, Wish, number]>([
  ['what is left', { windows: { minute: window(7) } }, one, 7],
  ['less what is in flight', { windows: { minute: window(7) }, inFlight: inFlight(3) }, one, 4],
  ['less what the dead have taken', { windows: { minute: window(7) }, inFlight: inFlight(3, { expires: at }) }, one, 4],
  ['less what is for people', { windows: { minute: window(7) } }, bulk, 5],
  ['the smaller of two windows', { windows: { minute: window(7), day: window(5, 9e6) } }, one, 5],
  ['beside others, few', { foreignRate: 0.1, windows: { minute: window(50) } }, one, 4],
  ['beside others, a sixteenth of many', { foreignRate: 0.1, windows: { minute: window(10_000_000) } }, one, 312_499],
  ['beside others, each for two', { foreignRate: 0.1, windows: { minute: window(7) } }, one, 3],
  [
    'beside others, less what is in flight',
    { foreignRate: 0.1, windows: { minute: window(50) }, inFlight: inFlight(3) },
    one,
    1,
  ],
  ['a pair', { windows: { minute: window(2) } }, two, 2],
])('how many may go at once: %s', (_what, changes, wish, places) => {
  expect(decide(state(changes), at, wish)).toEqual({ go: true, probe: false, places });
});

test.each<[string, Partial<KeyState>, Wish, object]>([
  ['one left is as good as none', { windows: { minute: window(1) } }, two, until(40_008)],
  ['one left of the day', { windows: { minute: window(9), day: window(1, 9e6) } }, two, until(9e6 + 1800)],
  ['one left, the other in flight', { windows: { minute: window(3) }, inFlight: inFlight(2) }, two, wait],
  [
    'a limit of 1 never has two',
    { windows: { minute: window(1, 40_000, 1) } },
    two,
    { go: true, probe: false, places: 1 },
  ],
  [
    'a bulk run under a limit of 2 has',
    { windows: { minute: window(2, 40_000, 2) } },
    { bulk: true, least: 2 },
    { go: true, probe: false, places: 2 },
  ],
  ['others leave no room for two', { foreignRate: 1, windows: { minute: window(12, 40_000, 3) } }, two, go],
  ['nothing known: a probe', {}, two, probe],
  ['a window that has ended: a probe', { windows: { minute: window(0, 9000) } }, two, probe],
  ['after a gate: a probe', { halfOpen: true, windows: { minute: window(1) } }, two, probe],
  [
    'beside others, three in flight',
    { foreignRate: 1, windows: { minute: window(55) }, inFlight: inFlight(3) },
    two,
    wait,
  ],
])('two that go together: %s', (_what, changes, wish, verdict) => {
  expect(decide(state(changes), at, wish)).toEqual(verdict);
});

test.each([
  [3, false, undefined],
  [3, true, undefined],
  [2, false, undefined],
  [2, true, { limit: 60, left: 2, resetAt: start + 9e6 }],
  [-3, undefined, { limit: 60, left: 0, resetAt: start + 9e6 }],
  [1, undefined, undefined],
])('%i left of the day, a bulk run: %s: %o', (left, isBulk, spent) => {
  expect(spentDay(state({ windows: { day: window(left, 9e6) } }), at, isBulk)).toEqual(spent);
});
