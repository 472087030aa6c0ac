import { describe, expect, test } from 'vitest';
import { fold } from '../../src/rate-limit/fold.ts';
import {
  clearReported,
  decodeState,
  emptyState,
  encodeState,
  isSameBoot,
  type KeyState,
  maxGateMs,
  serviceTime,
} from '../../src/rate-limit/key-state.ts';
import type { LimitRecord, ResponseRecord } from '../../src/rate-limit/limit-records.ts';

const now = Date.UTC(2026, 0, 15, 12);
const applyStart: LimitRecord = { type: 'start', boot: 'one', env: 'staging', at: 0, wall: now };
const intents = (ids: string, at = 0, minPermits: 1 | 2 = 1): LimitRecord => ({
  type: 'intent',
  ids: ids.split(' '),
  minPermits,
  by: 'me',
  at,
  expires: at + 31_000,
  bulk: false,
});
const applyResponse = (id: string, at: number, changes: Partial<ResponseRecord> = {}): LimitRecord => ({
  type: 'answer',
  id,
  at,
  wall: now + at,
  status: 200,
  date: now + at,
  limit: 20,
  remaining: 10,
  reset: now + 60_000,
  ...changes,
});
const asked = (id: string, at: number, changes: Partial<ResponseRecord> = {}) => [
  intents(id, at),
  applyResponse(id, at + 100, changes),
];
const lost = (id: string): LimitRecord => ({ type: 'lost', id });
const bare = { limit: undefined, remaining: undefined, reset: undefined };
const wait = { retryAfter: 5000, random: 0 };
const refusal = (id: string, at: number, changes: Partial<ResponseRecord> = {}) =>
  applyResponse(id, at, { status: 429, ...bare, ...wait, ...changes });
const down = (id: string, at: number, changes: Partial<ResponseRecord> = {}) =>
  applyResponse(id, at, { status: 503, ...bare, ...wait, ...changes });

const stateAfter = (...records: LimitRecord[]): KeyState => {
  const state = emptyState();
  for (const record of [applyStart, ...records]) fold(state, record);
  return state;
};
/** Returns a state with its windows as properties, and only the ids of the requests in flight. */
const shown = ({ windows: { minute, day }, inFlight, ...rest }: KeyState) => {
  return { ...rest, minute, day, inFlight: [...inFlight.keys()].join(' ') };
};

const probed = asked('probe', 0);
const sent = [...probed, intents('a', 200)];
const both = [...sent, intents('b', 200)];
const refused = [...sent, refusal('a', 300)];
const ofDay = { limit: 1000, remaining: 9, reset: now + 43_200_000 };
const fifteen = Array.from({ length: 15 }, (_, n) => `r${n}`);
const first = (count: number) => fifteen.slice(0, count).join(' ');
const full = [...probed, intents(first(9), 200)];
const givenUp = [
  ...probed,
  ...['a', 'b', 'c', 'd'].map((id) => intents(id, 200)),
  applyResponse('d', 300, { remaining: 6 }),
];
const others = [...probed, ...asked('a', 1000, { remaining: 5 })];
const quiet = [1, 2, 3, 4, 5, 6, 7, 8].flatMap((n) =>
  asked(`n${n}`, n * 60_500, { reset: now + (n + 1) * 60_000, remaining: 19 }),
);

const hourLong = { retryAfter: 3_600_000, random: 0.5 };
const left = (count: number) => ({ minute: { left: count } });
const gated = (at: number, episodes = 1) => ({ gate: { at: expect.closeTo(at, 0) }, episodes, halfOpen: true });
const held = (at: number, length: number) => ({ gate: { at, length, reason: 'unavailable' } });
const known = shown(stateAfter(...probed));

/** Adds a response from a clock that is 4 s ahead of the first one. */
const disputed = [...probed, ...asked('a', 200, { date: now + 4300 })];
const nextMinute = [...disputed, ...asked('b', 60_100, { date: now + 64_200, reset: now + 120_000, remaining: 19 })];
type Case = [title: string, records: LimitRecord[], state: object];

test.each<Case>([
  ['reads the number of requests left from a response', probed, left(10)],
  ['counts a request that was lost', [...sent, lost('a')], left(9)],
  [
    'does not count a request that was never sent',
    [...sent, { type: 'unsent', id: 'a' }],
    { inFlight: '', ...left(10) },
  ],
  ['counts a request only once even if it is reported lost twice', [...probed, lost('probe')], left(10)],
  ['counts a request whose response has no headers', [...sent, applyResponse('a', 300, bare)], left(9)],
  ['keeps a request in flight until its lease ends', [...sent, intents('b', 31_199)], { inFlight: 'a b', ...left(10) }],
  ['counts a request whose lease has ended', [...sent, intents('b', 31_200)], { inFlight: 'b', ...left(9) }],
  [
    'ignores a reset that is a hundred years away',
    [...sent, applyResponse('a', 300, { reset: now + 3e12 })],
    { ...left(9), day: undefined },
  ],
  ...(['limit', 'remaining', 'reset'] as const).map(
    (name): Case => [
      `counts a request whose response lacks X-RateLimit-${name}`,
      [...sent, applyResponse('a', 300, { remaining: 3, [name]: undefined })],
      left(9),
    ],
  ),
  [
    "recognizes a window by the service's clock, not by the machine's",
    [...sent, applyResponse('a', 300, { wall: now - 86_400_000, remaining: 9 })],
    { ...left(9), day: undefined },
  ],
  [
    'keeps a window whose reset moves by less than a second',
    [...sent, applyResponse('a', 300, { reset: now + 60_500, remaining: 9 })],
    { minute: { left: 9, reset: now + 60_500, first: { left: 10 } } },
  ],
  [
    'keeps a window whose reset moves by less than the clocks of the service disagree',
    [...disputed, ...asked('b', 2000, { reset: now + 57_000, remaining: 5 })],
    { minute: { left: 5, reset: now + 60_000, first: { left: 10 } } },
  ],
  [
    'begins a window anew if the last one had ended before the request was sent',
    [...probed, ...asked('a', 60_200, { reset: now + 60_900, remaining: 7 })],
    { minute: { left: 7, first: { left: 7 } } },
  ],
  [
    'does not subtract a request from a new window if it was answered within the last window',
    [
      ...[...probed, intents('a b', 59_900), applyResponse('b', 59_950, { remaining: 9 })],
      applyResponse('a', 60_100, { reset: now + 120_000, remaining: 19 }),
    ],
    { minute: { left: 19, own: 1 } },
  ],
  [
    'learns a window from the response to a request that was given up',
    [...probed, applyResponse('late', 300, ofDay)],
    { ...left(9), day: { left: 9 } },
  ],
  [
    'keeps an ended day while a response reports a minute that has ended, too',
    [...asked('a', 0, { reset: now + 63_000 }), ...asked('b', 70_000)],
    { minute: { left: 10 }, day: { left: 10 } },
  ],
  [
    'does not learn a window from a response without headers',
    [intents('a'), applyResponse('a', 100, bare)],
    { minute: undefined, day: undefined },
  ],
  [
    'counts each window down while responses report the other',
    [...sent, applyResponse('a', 300, ofDay), ...asked('b', 400)],
    { ...left(9), day: { left: 8 } },
  ],
  [
    'forgets a minute that has ended when a response reports the day',
    [...probed, ...asked('a', 70_000, ofDay)],
    { minute: undefined, day: { left: 9 } },
  ],
  [
    'measures the round trip from the moment of sending',
    [intents('a'), applyResponse('a', 1000, { leftAt: 900 })],
    { roundTrip: 100 },
  ],
  [
    'averages the round trips, with a fifth of the last one',
    [...probed, intents('a', 1000), applyResponse('a', 2100)],
    { roundTrip: expect.closeTo(300) },
  ],

  ['closes the gate after a 429', refused, gated(5300)],
  ['counts a 429 of the same burst as the same episode', [...both, refusal('a', 300), refusal('b', 400)], gated(5400)],
  [
    'does not shorten the gate after a later 429',
    [...both, refusal('a', 300), refusal('b', 400, { retryAfter: 0 })],
    gated(5300),
  ],
  [
    'counts a 429 after the gate as another episode',
    [...refused, intents('b', 5300), refusal('b', 5400)],
    gated(10_400, 2),
  ],
  [
    'doubles the minimum wait with each episode, with jitter',
    [
      ...both,
      refusal('a', 300, { retryAfter: 0 }),
      intents('b', 1300),
      refusal('b', 1400, { retryAfter: 0 }),
      intents('c', 3400),
      refusal('c', 3500, { retryAfter: 0, random: 0.5 }),
    ],
    gated(7700, 3),
  ],
  ['adds at most 5 s of jitter to a long wait', [intents('a'), refusal('a', 0, { ...hourLong })], gated(3_602_500)],
  [
    'waits for the end of the window after a 429 without a time',
    [intents('a'), refusal('a', 0, { retryAfter: undefined, reset: now + 9000 })],
    gated(9000),
  ],
  [
    'waits 60 s after a 429 whose window has just ended',
    [intents('a'), refusal('a', 0, { retryAfter: undefined, reset: now })],
    gated(60_000),
  ],
  ['waits 60 s after a 429 without headers', [intents('a'), refusal('a', 0, { retryAfter: undefined })], gated(60_000)],
  [
    'uses the known clock for a 429 without Date',
    [...sent, refusal('a', 300, { retryAfter: undefined, date: undefined, wall: now - 3_600_000, reset: now + 9000 })],
    gated(9000),
  ],
  [
    'waits 60 s after a 429 whose window ends in a hundred years',
    [intents('a'), refusal('a', 0, { retryAfter: undefined, reset: now + 3e12 })],
    gated(60_000),
  ],
  [
    'counts a 429 to an abandoned request as an episode, by the earlier clock',
    [...probed, refusal('late', 300, { retryAfter: undefined, date: now - 5000, reset: now + 9000 })],
    gated(14_300),
  ],
  [
    'closes the gate for 32 days after a 429 that asks for more',
    [intents('a'), refusal('a', 100, { retryAfter: 1e13, random: 0.9 })],
    { gate: { at: 100 + maxGateMs, wall: now + 100 + maxGateMs, length: maxGateMs, reason: 'refused' } },
  ],
  [
    'ends the episodes with a response after the gate',
    [...refused, ...asked('b', 5300)],
    { episodes: 0, halfOpen: false },
  ],
  [
    'keeps the episodes after a response to a request from before the gate',
    [...both, refusal('a', 300), applyResponse('b', 400)],
    { episodes: 1, halfOpen: true },
  ],

  ['closes the gate after a 503 with Retry-After', [...sent, down('a', 300)], held(5300, 5000)],
  ['adds jitter to the gate of a 503', [...sent, down('a', 300, { random: 0.5 })], held(5550, 5250)],
  ['closes the gate after a 502 with Retry-After', [...sent, down('a', 300, { status: 502 })], held(5300, 5000)],
  ['closes the gate after a 504 with Retry-After', [...sent, down('a', 300, { status: 504 })], held(5300, 5000)],
  [
    'does not close the gate after a 503 with Retry-After: 0',
    [...sent, down('a', 300, { retryAfter: 0 })],
    { gate: { at: 0 } },
  ],
  ['does not close the gate after a 500', [...sent, down('a', 300, { status: 500 })], { gate: { at: 0 } }],
  [
    'limits the gate of a 503 to 32 days',
    [...sent, down('a', 300, { retryAfter: 1e13 })],
    held(300 + maxGateMs, maxGateMs),
  ],
  [
    'does not count a 503 as an episode, and admits one request after it',
    [...sent, down('a', 300), intents('b c', 5300)],
    { episodes: 0, halfOpen: true, inFlight: 'b' },
  ],
  [
    'opens the gate fully after the response to the probe that followed a 503',
    [...sent, down('a', 300), ...asked('b', 5300)],
    { halfOpen: false },
  ],
  [
    'extends the gate with a later 503, but never shortens it',
    [
      ...probed,
      intents('a b c', 200),
      down('a', 300),
      down('b', 400, { retryAfter: 9000 }),
      down('c', 500, { retryAfter: 1000 }),
    ],
    { gate: { at: 9400 }, episodes: 0 },
  ],
  [
    'keeps the episodes of 429s after a 503',
    [...refused, intents('b', 5300), down('b', 5400, { retryAfter: 1000 })],
    { episodes: 1 },
  ],

  [
    'ignores the clock in the response to an abandoned request',
    [...sent, intents('b', 40_000), applyResponse('a', 50_000, { date: now + 300 })],
    { offset: known.offset },
  ],
  [
    'keeps the known clock after a response without Date',
    [...sent, applyResponse('a', 300, { date: undefined, wall: 0 })],
    { offset: known.offset },
  ],
  [
    "follows the machine's clock until a response has a Date",
    [...asked('a', 0, { date: undefined }), ...asked('b', 200, { date: undefined, wall: now + 9000 })],
    { offset: { least: now + 8700, most: now + 9700, at: 300, guessed: true } },
  ],
  [
    'follows the slowest clock of the service until a response reports another minute',
    [...disputed, ...asked('b', 400, { ...ofDay, date: now + 4500 })],
    { offset: { least: expect.closeTo(now, -1), disputed: true } },
  ],
  [
    'trusts the clock of the first response of another minute, with a margin',
    nextMinute,
    { offset: { least: now + 4000, margin: expect.closeTo(4012, -1) } },
  ],
  [
    "keeps the margin of the service's clock after a response without headers",
    [...nextMinute, ...asked('c', 60_300, { ...bare, date: now + 64_400 })],
    { offset: { margin: expect.closeTo(4012, -1) } },
  ],
  [
    'neither restores an old window nor opens a gate after the response to an abandoned request',
    [
      ...probed,
      intents('late', 200),
      intents('b', 61_000),
      applyResponse('b', 61_100, { reset: now + 120_000, remaining: 19 }),
      intents('c', 61_200),
      refusal('c', 61_300),
      applyResponse('late', 70_000, { date: now + 300, remaining: 9 }),
    ],
    { minute: { reset: now + 120_000 }, halfOpen: true, episodes: 1 },
  ],

  ['attributes requests beyond our own to other users', others, { foreignRate: 4 }],
  ["halves other users' rate after a quiet window", [...others, ...quiet.slice(0, 2)], { foreignRate: 2 }],
  ["keeps other users' rate within a window", [...others, ...asked('b', 1200, { remaining: 4 })], { foreignRate: 4 }],
  ['forgets other users after several quiet windows', [...others, ...quiet], { foreignRate: 0 }],
  ['counts abandoned requests as sent', [...givenUp, intents('e', 31_300)], left(3)],
  [
    'does not infer other users from abandoned requests that were answered after all',
    [...givenUp, intents('e', 31_300), applyResponse('a', 31_400, { date: now + 300, remaining: 9 })],
    { foreignRate: 0 },
  ],
  [
    'infers other users even from requests that are refused because of them',
    [
      ...probed,
      intents('a', 1000),
      intents('b', 1000),
      ...['a', 'b'].map((id) => applyResponse(id, 2100, { status: 429, remaining: 0, ...wait })),
    ],
    { foreignRate: 5 },
  ],
  [
    'does not infer other users from responses that arrive out of order',
    [
      ...sent,
      intents('b', 210),
      applyResponse('b', 300, ofDay),
      applyResponse('a', 310, { ...ofDay, remaining: 10 }),
      ...asked('c', 400, { ...ofDay, remaining: 8 }),
    ],
    { foreignRate: 0 },
  ],
  [
    'subtracts from a new window what was answered before its first response',
    [...both, applyResponse('b', 300, { remaining: 8 }), applyResponse('a', 310, ofDay)],
    { day: { left: 8 } },
  ],
  [
    'does not infer other users from a lowered limit',
    [...probed, ...asked('a', 1000, { limit: 12, remaining: 1 })],
    { foreignRate: 0, minute: { left: 1, limit: 12 } },
  ],

  ['admits several requests as long as there is room', [...probed, intents(first(15), 200)], { inFlight: first(10) }],
  ['admits one of several as a probe', [intents('a b', 0, 2)], { inFlight: 'a' }],
  ['admits a pair either whole or not at all', [...full, intents('a b', 300, 2)], { inFlight: first(9) }],
  ['admits one of two requests that are not a pair', [...full, intents('a b', 300, 1)], { inFlight: `${first(9)} a` }],

  [
    'changes nothing on another start of the same boot',
    [...probed, { ...applyStart, env: 'production', at: 500, wall: 0 }],
    known,
  ],
  [
    'keeps requests in flight when a container with its own boot id starts',
    [...sent, { ...applyStart, boot: 'two', at: 500, wall: now + 500 }],
    { boot: 'two', over: 1, ...left(10), inFlight: 'a' },
  ],
  [
    'keeps the gate of a 503 after a restart',
    [...sent, down('a', 300, { retryAfter: 60_000 }), { ...applyStart, boot: 'two', at: 10, wall: now + 20_000 }],
    {
      ...held(40_310, 60_000),
      ...left(9),
      bootedAt: now + 19_990,
      offset: { least: now + 19_990, most: now + 21_090, guessed: true },
    },
  ],
  [
    'lifts a gate at a restart after its end',
    [...sent, down('a', 300), { ...applyStart, boot: 'two', at: 10, wall: now + 20_000 }],
    { gate: { at: 0 } },
  ],
  [
    'forgets both windows on a restart with a clock set back before one of them',
    [...probed, ...asked('a', 4900, ofDay), { ...applyStart, boot: 'two', at: 10, wall: now + 2000 }],
    { minute: undefined, day: undefined },
  ],
])('%s', (_what, records, expected) => {
  expect(shown(stateAfter(...records))).toMatchObject(expected);
});

test('follows a backend that is 4 s behind, even if another backend responds more often', () => {
  const ahead = ['a', 'b', 'c', 'd'].flatMap((id, n) => {
    const at = 200 + n * 100;
    return [intents(id, at), applyResponse(id, at + 10, { date: now + at + 4000 })];
  });
  expect(serviceTime(stateAfter(...probed, ...ahead), 1000)).toBeLessThanOrEqual(now + 1000);
});

describe('encodeState and decodeState', () => {
  const rich = stateAfter(
    ...probed,
    intents('a b c', 200),
    intents('d', 210),
    applyResponse('b', 250, { status: 429, retryAfter: 5000, random: 0.5 }),
    applyResponse('x', 300, { ...ofDay, remaining: 50 }),
  );

  test('decodes the whole encoded state', () => {
    expect(decodeState(encodeState(rich))).toEqual(rich);
  });

  test('stores a process with many requests once', () => {
    const others = { ...intents('x y', 210), by: 'other' };
    const state = stateAfter(...probed, intents('a b c', 200), others, intents('d', 220));
    const json = encodeState(state);
    expect(json.split('"by"')).toHaveLength(1 + 3);
    expect(decodeState(json)).toEqual(state);
  });

  test('rejects a state with a text in place of any number, or a time beyond all dates', () => {
    const json = encodeState(rich);
    const numbers = [...json.matchAll(/(?<=:)\d+(?:\.\d+)?(?=[,}])/g)];
    expect(numbers.length).toBeGreaterThan(30);
    for (const { 0: number, index } of numbers) {
      for (const forged of ['"7"', '1e16']) {
        const text = `${json.slice(0, index)}${forged}${json.slice(index + number.length)}`;
        expect(() => decodeState(text), text).toThrow('the limits are damaged');
      }
    }
    for (const name of ['one', 'staging']) {
      expect(() => decodeState(json.replace(`"${name}"`, '7'))).toThrow('the limits are damaged');
    }
  });

  test('reads a forged owner of a request as text', () => {
    const { inFlight } = decodeState('{"inFlight":[["a",{"by":null}],["b",{"by":7}],["c",{"by":{}}],["d",{}]]}');
    expect([...inFlight.values()].map(({ by }) => typeof by)).toEqual(Array(4).fill('string'));
  });

  test('fills in the fields that an earlier version did not store', () => {
    expect(decodeState('{"inFlight":[]}')).toEqual(emptyState());
    const { inFlight, gate } = decodeState('{"inFlight":[["a",{"sentAt":1}]],"gate":{"at":9,"wall":9,"length":9}}');
    expect(inFlight.get('a')).toEqual({ sentAt: 1, expires: 0, overBefore: 0, by: '', probe: false });
    expect(gate).toEqual({ at: 9, wall: 9, length: 9, reason: 'refused' });
  });

  test('shortens a gate of centuries that an earlier version stored', () => {
    const gate = { at: 5e12 + 100, wall: now + 5e12, length: 5e12, reason: 'refused' as const };
    const read = { at: 100 + maxGateMs, wall: now + maxGateMs, length: maxGateMs };
    expect(decodeState(encodeState({ ...rich, gate })).gate).toMatchObject(read);
  });
});

test('clears the limits that the service reported, but keeps requests in flight', () => {
  const state = stateAfter(...probed, intents('a b', 200), applyResponse('b', 250, { status: 429, retryAfter: 5000 }));
  clearReported(state);
  const { inFlight, over, bootedAt } = state;
  expect([...inFlight.keys()]).toEqual(['a']);
  expect(state).toEqual({ ...emptyState(), boot: 'one', env: 'staging', bootedAt, inFlight, over });
});

test.each([
  ['1b2c', '1b2c', true],
  ['1b2c', '3d4e', false],
  ['', '', true],
  ['', 'since 7', false],
  ['since 29000000', 'since 29000001', true],
  ['since 29000000', 'since 28999998', true],
  ['since 29000000', 'since 29000060', false],
  ['since 29000000', 'not since 29000000', false],
  ['since 29000000', 'since 29000000 s', false],
])('decides whether the boots %j and %j are the same: %s', (a, b, same) => {
  expect(isSameBoot(a, b)).toBe(same);
});
