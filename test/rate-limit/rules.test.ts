import { expect, test } from 'vitest';
import {
  countDown,
  emptyState,
  foreignRate,
  type InFlight,
  type KeyState,
  observe,
  type SeenWindow,
  type Window,
} from '../../src/rate-limit/key-state.ts';
import { type AdmissionRequest, decide, exhaustedDailyQuota } from '../../src/rate-limit/rules.ts';

const start = 1_768_478_400_000;
const at = 10_000;

/** Returns a window that was reported at time 0, when the service's clock showed `start`. */
const seen = (changes: Partial<SeenWindow> = {}): SeenWindow => ({
  reset: start + 40_000,
  limit: 60,
  remaining: 10,
  sentAt: 0,
  receivedAt: 0,
  meanwhile: 0,
  missed: 0,
  refused: false,
  ...changes,
});
const window = (remaining: number, endsIn = 40_000, limit = 60): Window =>
  observe(undefined, seen({ reset: start + endsIn, limit, remaining }), false);
const flying = (count: number, changes: Partial<InFlight> = {}) => {
  const request = { sentAt: 0, expires: 31_000, probe: false, overBefore: 0, ...changes };
  return { inFlight: new Map(Array.from({ length: count }, (_, n) => [`r${n}`, request])) };
};
const probing = flying(1, { probe: true, expires: at + 1 });
const dead = { expires: at };
const state = (changes: Partial<KeyState>): KeyState => ({
  ...emptyState(),
  offset: { least: start, at: 0 },
  ...changes,
});
const gate = (until: number) => ({ gate: { at: until, length: 0, reason: 'refused' as const } });
/** Returns windows with this many requests left of the minute and of the day. */
const left = (count: number, day?: number) => ({
  windows: { minute: window(count), ...(day !== undefined && { day: window(day, 9e6) }) },
});
const fiveSecondsAgo = (count: number) => ({ windows: { minute: { ...window(count), toldAt: 5000 } } });
const leftOf = (limit: number, count: number) => ({ windows: { minute: window(count, 40_000, limit) } });
const ended = { windows: { minute: window(0, 9000) } };
const beside = (foreignRate: number) => ({ foreignRate });

const go = { admitted: true, probe: false, permits: expect.any(Number) };
const most = (permits: number) => ({ admitted: true, probe: false, permits });
const probe = { admitted: true, probe: true, permits: 1 };
const wait = { admitted: false, retryAt: undefined };
const until = (time: number) => ({ admitted: false, retryAt: expect.closeTo(time, 0) });
const [minuteEnds, dayEnds] = [until(40_008), until(9e6 + 1800)];
const one: AdmissionRequest = { bulk: false, minPermits: 1 };
const two: AdmissionRequest = { bulk: false, minPermits: 2 };
const bulk: AdmissionRequest = { bulk: true, minPermits: 1 };

test.each<[string, Partial<KeyState>, AdmissionRequest, object]>([
  ['nothing known', {}, one, probe],
  ['nothing known, a probe in flight', probing, one, wait],
  ['nothing known, an expired probe', flying(1, { probe: true, ...dead }), one, probe],
  ['nothing known, others in flight', flying(5), one, probe],
  ['a closed gate', { ...gate(at + 1), ...left(50) }, one, until(at + 1)],
  ['a gate that has just lifted', { ...gate(at), ...left(50) }, one, go],
  ['after a gate', { halfOpen: true, ...left(50) }, one, probe],
  ['after a gate, a probe in flight', { halfOpen: true, ...probing }, one, wait],
  ['after a gate, the minute spent', { halfOpen: true, ...left(0) }, one, minuteEnds],
  ['some left', left(1), one, go],
  ['none left', left(0), one, minuteEnds],
  ['a negative number left', left(-3), one, minuteEnds],
  ['all left are in flight', { ...left(3), ...flying(3) }, one, wait],
  ['all left are in flight until a moment later', { ...left(3), ...flying(3, { expires: at + 1 }) }, one, wait],
  ['all but one are in flight', { ...left(3), ...flying(2) }, one, go],
  ['as many expired requests as are left', { ...left(3), ...flying(3, dead) }, one, minuteEnds],
  ['a window that has ended', ended, one, probe],
  ['a window that has ended, a probe in flight', { ...ended, ...probing }, one, wait],
  ['a window that has ended, another request in flight', { ...ended, ...flying(1) }, one, probe],
  ['the minute spent, but not the day', left(0, 9), one, minuteEnds],
  ['the day spent, but not the minute', left(9, 0), one, dayEnds],
  ['the minute and the day spent', left(0, 0), one, dayEnds],
  ['the day ended, but not the minute', { windows: { minute: window(9), day: window(0, 9000) } }, one, probe],
  ['the day spent, the minute ended', { windows: { minute: window(9, 9000), day: window(0, 9e6) } }, one, dayEnds],

  ['as many as are left', left(7), one, most(7)],
  ['as many as are left, less requests in flight', { ...left(7), ...flying(3) }, one, most(4)],
  ['as many as are left, less expired requests', { ...left(7), ...flying(3, dead) }, one, most(4)],
  ['as many as are left, less a reserve', left(7), bulk, most(5)],
  ['as many as the smaller of two windows has left', left(7, 5), one, most(5)],
  ['beside other users, 50 left', { ...beside(0.1), ...left(50) }, one, most(4)],
  ['beside other users, 10 million left', { ...beside(0.1), ...left(10_000_000) }, one, most(312_499)],
  ['beside other users, 7 left', { ...beside(0.1), ...left(7) }, one, most(3)],
  ['beside other users, 50 left, three in flight', { ...beside(0.1), ...left(50), ...flying(3) }, one, most(1)],

  ['60 for a bulk run, 3 left', leftOf(60, 3), bulk, go],
  ['60 for a bulk run, 2 left', leftOf(60, 2), bulk, minuteEnds],
  ['1000 for a bulk run, 21 left', leftOf(1000, 21), bulk, go],
  ['1000 for a bulk run, 20 left', leftOf(1000, 20), bulk, minuteEnds],
  ['8 for a bulk run, 3 left', leftOf(8, 3), bulk, go],
  ['8 for a bulk run, 2 left', leftOf(8, 2), bulk, minuteEnds],
  ['4 for a bulk run, 2 left', leftOf(4, 2), bulk, go],
  ['4 for a bulk run, 1 left', leftOf(4, 1), bulk, minuteEnds],
  ['3 for a bulk run, 1 left', leftOf(3, 1), bulk, go],
  ['1 for a bulk run, 1 left', leftOf(1, 1), bulk, go],

  // 10 s have passed since the window was reported.
  ['beside other users, 55 left, three in flight', { ...beside(1), ...left(55), ...flying(3) }, one, go],
  ['beside other users, 55 left, four in flight', { ...beside(1), ...left(55), ...flying(4) }, one, wait],
  ['without other users, 1 left', { ...beside(0), ...left(1) }, one, go],
  ['beside 0.1 requests a second, 3 left', { ...beside(0.1), ...left(3) }, one, go],
  ['beside 0.1 requests a second, 2 left', { ...beside(0.1), ...left(2) }, one, minuteEnds],
  ['beside 2 requests a second, 22 left', { ...beside(2), ...left(22) }, one, go],
  ['beside 2 requests a second, 21 left', { ...beside(2), ...left(21) }, one, minuteEnds],
  ['beside 2 requests a second, 24 left, one in flight', { ...beside(2), ...left(24), ...flying(1) }, one, go],
  ['beside 2 requests a second, 23 left, one in flight', { ...beside(2), ...left(23), ...flying(1) }, one, wait],
  ['beside 2 requests a second, RTT 2 s, 26 left', { ...beside(2), roundTrip: 2000, ...left(26) }, one, go],
  ['beside 2 requests a second, RTT 2 s, 25 left', { ...beside(2), roundTrip: 2000, ...left(25) }, one, minuteEnds],
  ['beside 2 requests a second, 12 left 5 s ago', { ...beside(2), ...fiveSecondsAgo(12) }, one, go],
  ['beside 2 requests a second, 11 left 5 s ago', { ...beside(2), ...fiveSecondsAgo(11) }, one, minuteEnds],
  ['beside other users, a limit of 1', { ...beside(0.1), ...leftOf(1, 1) }, one, minuteEnds],
  ['beside other users, expired requests', { ...beside(0.1), ...left(30), ...flying(20, dead) }, one, go],

  ['two, both left', left(2), two, most(2)],
  ['two, one left', left(1), two, minuteEnds],
  ['two, one left of the day', left(9, 1), two, dayEnds],
  ['two, one left, the other in flight', { ...left(3), ...flying(2) }, two, wait],
  ['two, a limit of 1', leftOf(1, 1), two, most(1)],
  ['two of a bulk run, a limit of 2', leftOf(2, 2), { bulk: true, minPermits: 2 }, most(2)],
  ['two beside other users, a limit of 3', { ...beside(1), ...leftOf(3, 12) }, two, go],
  ['two, nothing known', {}, two, probe],
  ['two, a window that has ended', ended, two, probe],
  ['two, after a gate', { halfOpen: true, ...left(1) }, two, probe],
  ['two beside other users, three in flight', { ...beside(1), ...left(55), ...flying(3) }, two, wait],
])('decides how many requests may be sent, and when: %s', (_what, changes, wish, verdict) => {
  expect(decide(state(changes), at, wish)).toEqual(verdict);
});

test.each([
  [3, false, 9e6, undefined],
  [3, true, 9e6, undefined],
  [2, false, 9e6, undefined],
  [2, true, 9e6, { limit: 60, left: 2, resetAt: start + 9e6 }],
  [-3, undefined, 9e6, { limit: 60, left: 0, resetAt: start + 9e6 }],
  [1, undefined, 9e6, undefined],
  [0, undefined, 9000, undefined],
])(
  'decides whether the daily quota is spent: %i left (bulk run: %s, reset in %i ms): %o',
  (count, isBulk, endsIn, spent) => {
    expect(exhaustedDailyQuota(state({ windows: { day: window(count, endsIn) } }), at, isBulk)).toEqual(spent);
  },
);

/** Returns a window as a response reports it, with 10 of 20 requests left. */
const told = (changes: Partial<SeenWindow>) =>
  seen({ reset: 60_000, limit: 20, sentAt: 900, receivedAt: 1000, ...changes });
const before = (changes: Partial<Window> = {}): Window => ({
  ...observe(undefined, told({}), false),
  own: 3,
  ...changes,
});

test.each<[string, Partial<SeenWindow>, boolean, Partial<Window>]>([
  ['with fewer left', { remaining: 9 }, false, { left: 9, own: 4 }],
  ['with more left, out of order', { remaining: 12 }, false, { left: 10, own: 4 }],
  ['of the next window', { reset: 120_000, remaining: 19 }, false, { reset: 120_000, left: 19, own: 0 }],
  // The request crossed the end of a window, so the number left before is no longer valid.
  ['of the next window, sent before the last', { reset: 120_000, sentAt: 500 }, false, { left: 10, own: 0 }],
  ['of the window before', { reset: 0, remaining: 0, sentAt: 500 }, false, { reset: 60_000, left: 10, own: 3 }],
  ['of an earlier end, sent since', { reset: 30_000, remaining: 4, sentAt: 1500 }, false, { reset: 30_000, left: 4 }],
  ['of an end one second later', { reset: 61_000, remaining: 12 }, false, { reset: 61_000, left: 10, own: 4 }],
  ['of an end one second earlier', { reset: 59_000, remaining: 9 }, false, { reset: 60_000, left: 9, own: 4 }],
  ['of a window of one second', { reset: 61_000, remaining: 12 }, true, { reset: 61_000, left: 12, own: 0 }],
  ['of the next window, overtaken by other responses', { reset: 120_000, meanwhile: 4 }, false, { left: 10, own: 4 }],
  ['that was refused, and took nothing', { remaining: 0, refused: true }, false, { left: 0, least: 0, own: 3 }],
  ['of a lower limit', { limit: 10, remaining: 2 }, false, { limit: 10, left: 2, own: 0 }],
])('updates a window by one more response %s', (_what, changes, hadEnded, expected) => {
  expect(observe(before(), told(changes), hadEnded)).toMatchObject(expected);
});

test('begins a window with its first response, and counts down unreported requests', () => {
  expect(observe(undefined, told({}), false)).toMatchObject({ left: 10, own: 0, first: { left: 10, at: 1000 } });
  expect(countDown(before())).toMatchObject({ left: 9, least: 10, own: 4 });
});

test.each([
  // left, own, in flight, seconds, rate
  [7, 3, 0, 1, 0],
  [7, 2, 1, 1, 0],
  [7, 2, 0, 1, 1],
  [5, 1, 0, 2, 2],
  [5, 1, 0, 0.1, 4],
  [9, 3, 0, 1, 0],
])(
  'infers the rate of other users: %i left of 10, %i our own, %i in flight, in %f s: %f',
  (least, own, inFlight, seconds, rate) => {
    expect(foreignRate(before({ least, own, toldAt: 1000 + seconds * 1000 }), inFlight)).toBe(rate);
  },
);
