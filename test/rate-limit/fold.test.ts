import { describe, expect, test } from 'vitest';
import { fold } from '../../src/rate-limit/fold.ts';
import {
  decodeState,
  emptyState,
  encodeState,
  forget,
  isSameBoot,
  type KeyState,
  maxGateMs,
  serviceTime,
} from '../../src/rate-limit/key-state.ts';
import type { LimitRecord, ResponseRecord } from '../../src/rate-limit/records.ts';

const now = Date.UTC(2026, 0, 15, 12);
const applyStart: LimitRecord = { type: 'start', boot: 'one', env: 'staging', at: 0, wall: now };
const intents = (ids: string, at = 0, minPermits: 1 | 2 = 1): LimitRecord => ({
  ...{ type: 'intent', ids: ids.split(' '), minPermits, by: 'me', at, expires: at + 31_000, bulk: false },
});
const applyResponse = (id: string, at: number, changes: Partial<ResponseRecord> = {}): LimitRecord => ({
  ...{ type: 'answer', id, at, wall: now + at, status: 200, date: now + at },
  ...{ limit: 20, remaining: 10, reset: now + 60_000, ...changes },
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
/** The windows beside the rest, and the names of what is in flight. */
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

test.each<[string, LimitRecord[], object]>([
  ['an answer tells what is left', probed, left(10)],
  ['one that was lost is counted', [...sent, lost('a')], left(9)],
  ['one that was never sent is not', [...sent, { type: 'unsent', id: 'a' }], left(10)],
  ['one that was lost twice is counted once', [...probed, lost('probe')], left(10)],
  ['one whose answer has no headers is counted', [...sent, applyResponse('a', 300, bare)], left(9)],
  ['one is in flight until its lease is over', [...sent, intents('b', 31_199)], { inFlight: 'a b', ...left(10) }],
  ['one whose lease is over is counted', [...sent, intents('b', 31_200)], { inFlight: 'b', ...left(9) }],
  ['an end in a hundred years is not believed', [...sent, applyResponse('a', 300, { reset: now + 3e12 })], left(9)],
  [
    'bare answers tell of no window',
    [intents('a'), applyResponse('a', 100, bare)],
    { minute: undefined, day: undefined },
  ],
  [
    'told by turns, each window is counted down while the other is told',
    [...sent, applyResponse('a', 300, ofDay), ...asked('b', 400)],
    { ...left(9), day: { left: 8 } },
  ],
  [
    'a minute that has ended is forgotten when the day is told',
    [...probed, ...asked('a', 70_000, ofDay)],
    { minute: undefined, day: { left: 9 } },
  ],
  [
    'the round trip is counted from when it left',
    [intents('a'), applyResponse('a', 1000, { leftAt: 900 })],
    { roundTrip: 100 },
  ],

  ['a 429 raises a gate', refused, gated(5300)],
  ['a 429 of the same burst is of its episode', [...both, refusal('a', 300), refusal('b', 400)], gated(5400)],
  ['a 429 lowers no gate', [...both, refusal('a', 300), refusal('b', 400, { retryAfter: 0 })], gated(5300)],
  ['a 429 after the gate is another episode', [...refused, intents('b', 5300), refusal('b', 5400)], gated(10_400, 2)],
  [
    'each episode doubles the least wait, with jitter',
    [
      ...[...both, refusal('a', 300, { retryAfter: 0 }), intents('b', 1300), refusal('b', 1400, { retryAfter: 0 })],
      ...[intents('c', 3400), refusal('c', 3500, { retryAfter: 0, random: 0.5 })],
    ],
    gated(7700, 3),
  ],
  ['the jitter of a long wait is at most 5 s', [intents('a'), refusal('a', 0, { ...hourLong })], gated(3_602_500)],
  [
    'a 429 without a time: to the end of the window',
    [intents('a'), refusal('a', 0, { retryAfter: undefined, reset: now + 9000 })],
    gated(9000),
  ],
  ['a 429 without anything: 60 s', [intents('a'), refusal('a', 0, { retryAfter: undefined })], gated(60_000)],
  [
    'a 429 without Date: by the clock that was known',
    [...sent, refusal('a', 300, { retryAfter: undefined, date: undefined, wall: now - 3_600_000, reset: now + 9000 })],
    gated(9000),
  ],
  [
    'a 429 whose window ends in a hundred years: 60 s',
    [intents('a'), refusal('a', 0, { retryAfter: undefined, reset: now + 3e12 })],
    gated(60_000),
  ],
  [
    'a 429 to a request that had been given up is an episode, and waits by the earlier clock',
    [...probed, refusal('late', 300, { retryAfter: undefined, date: now - 5000, reset: now + 9000 })],
    gated(14_300),
  ],
  [
    'a 429 that asks for more than 32 days closes the gate for 32 days',
    [intents('a'), refusal('a', 100, { retryAfter: 1e13, random: 0.9 })],
    { gate: { at: 100 + maxGateMs, wall: now + 100 + maxGateMs, length: maxGateMs, reason: 'refused' } },
  ],
  ['an answer after the gate ends the episodes', [...refused, ...asked('b', 5300)], { episodes: 0, halfOpen: false }],
  [
    'an answer to a request that was sent before the gate does not',
    [...both, refusal('a', 300), applyResponse('b', 400)],
    { episodes: 1, halfOpen: true },
  ],

  ['a 503 with Retry-After closes the gate', [...sent, down('a', 300)], held(5300, 5000)],
  ['a 503 does so with jitter', [...sent, down('a', 300, { random: 0.5 })], held(5550, 5250)],
  ['a 502 does so too', [...sent, down('a', 300, { status: 502 })], held(5300, 5000)],
  ['a 504 does so too', [...sent, down('a', 300, { status: 504 })], held(5300, 5000)],
  ['a 503 that asks for no time does not', [...sent, down('a', 300, { retryAfter: 0 })], { gate: { at: 0 } }],
  ['a 500 does not', [...sent, down('a', 300, { status: 500 })], { gate: { at: 0 } }],
  ['a 503 is cut to 32 days', [...sent, down('a', 300, { retryAfter: 1e13 })], held(300 + maxGateMs, maxGateMs)],
  [
    'a 503 is no episode, and one request goes after it',
    [...sent, down('a', 300), intents('b c', 5300)],
    { episodes: 0, halfOpen: true, inFlight: 'b' },
  ],
  ['the answer to that one opens the gate', [...sent, down('a', 300), ...asked('b', 5300)], { halfOpen: false }],
  [
    'a 503 joins the others of its time, and never shortens a gate',
    [
      ...[...probed, intents('a b c', 200), down('a', 300)],
      ...[down('b', 400, { retryAfter: 9000 }), down('c', 500, { retryAfter: 1000 })],
    ],
    { gate: { at: 9400 }, episodes: 0 },
  ],
  [
    'a 503 does not end the episodes of 429s',
    [...refused, intents('b', 5300), down('b', 5400, { retryAfter: 1000 })],
    { episodes: 1 },
  ],

  [
    'the answer to a request that had been given up says nothing of the clock',
    [...sent, intents('b', 40_000), applyResponse('a', 50_000, { date: now + 300 })],
    { offset: known.offset },
  ],
  [
    'an answer without Date says nothing of the clock',
    [...sent, applyResponse('a', 300, { date: undefined, wall: 0 })],
    { offset: known.offset },
  ],
  [
    'the answer to a request that had been given up brings no old window back, and opens nothing',
    [
      ...[...probed, intents('late', 200), intents('b', 61_000)],
      ...[
        applyResponse('b', 61_100, { reset: now + 120_000, remaining: 19 }),
        intents('c', 61_200),
        refusal('c', 61_300),
      ],
      applyResponse('late', 70_000, { date: now + 300, remaining: 9 }),
    ],
    { minute: { reset: now + 120_000 }, halfOpen: true, episodes: 1 },
  ],

  ['what leaves the window beyond what we send is that of others', others, { foreignRate: 4 }],
  ['others are forgotten over some windows', [...others, ...quiet], { foreignRate: 0 }],
  ['ours that were given up are counted', [...givenUp, intents('e', 31_300)], left(3)],
  [
    'ours that were given up, and answered all the same, are no sign of others',
    [...givenUp, intents('e', 31_300), applyResponse('a', 31_400, { date: now + 300, remaining: 9 })],
    { foreignRate: 0 },
  ],
  [
    'others show also if ours were refused because of them',
    [
      ...[...probed, intents('a', 1000), intents('b', 1000)],
      ...['a', 'b'].map((id) => applyResponse(id, 2100, { status: 429, remaining: 0, ...wait })),
    ],
    { foreignRate: 5 },
  ],
  [
    'an answer that was overtaken by another of ours is no sign of others',
    [
      ...[
        ...sent,
        intents('b', 210),
        applyResponse('b', 300, ofDay),
        applyResponse('a', 310, { ...ofDay, remaining: 10 }),
      ],
      ...asked('c', 400, { ...ofDay, remaining: 8 }),
    ],
    { foreignRate: 0 },
  ],
  [
    'what overtook the first answer of a window with an answer of another one is taken off',
    [...both, applyResponse('b', 300, { remaining: 8 }), applyResponse('a', 310, ofDay)],
    { day: { left: 8 } },
  ],
  [
    'a limit that is lowered is no sign of others',
    [...probed, ...asked('a', 1000, { limit: 12, remaining: 1 })],
    { foreignRate: 0, minute: { left: 1, limit: 12 } },
  ],

  ['several go as long as there is room', [...probed, intents(first(15), 200)], { inFlight: first(10) }],
  ['of several one goes as a probe', [intents('a b', 0, 2)], { inFlight: 'a' }],
  ['a pair is not parted', [...full, intents('a b', 300, 2)], { inFlight: first(9) }],
  ['two that are no pair are', [...full, intents('a b', 300, 1)], { inFlight: `${first(9)} a` }],

  [
    'a start of the same boot changes nothing',
    [...probed, { ...applyStart, env: 'production', at: 500, wall: 0 }],
    known,
  ],
  [
    'a boot id of its own, on the same clocks, is a container of this machine: what is in flight stays',
    [...sent, { ...applyStart, boot: 'two', at: 500, wall: now + 500 }],
    { boot: 'two', over: 1, ...left(10), inFlight: 'a' },
  ],
  [
    'what a gateway asked for lasts over a restart',
    [...sent, down('a', 300, { retryAfter: 60_000 }), { ...applyStart, boot: 'two', at: 10, wall: now + 20_000 }],
    { ...held(40_310, 60_000), offset: { least: now + 19_990, most: now + 21_090 } },
  ],
  [
    'a restart with a clock that was set back before one of the windows forgets both',
    [...probed, ...asked('a', 4900, ofDay), { ...applyStart, boot: 'two', at: 10, wall: now + 2000 }],
    { minute: undefined, day: undefined },
  ],
])('%s', (_what, records, expected) => {
  expect(shown(stateAfter(...records))).toMatchObject(expected);
});

test('a backend that is 4 s behind counts to the end of its window, however often the other one answers', () => {
  const ahead = ['a', 'b', 'c', 'd'].flatMap((id, n) => {
    const at = 200 + n * 100;
    return [intents(id, at), applyResponse(id, at + 10, { date: now + at + 4000 })];
  });
  expect(serviceTime(stateAfter(...probed, ...ahead), 1000)).toBeLessThanOrEqual(now + 1000);
});

describe('a state as JSON', () => {
  const rich = stateAfter(
    ...[...probed, intents('a b c', 200), intents('d', 210)],
    applyResponse('b', 250, { status: 429, retryAfter: 5000, random: 0.5 }),
    applyResponse('x', 300, { ...ofDay, remaining: 50 }),
  );

  test('says all that is known', () => {
    expect(decodeState(encodeState(rich))).toEqual(rich);
  });

  test('names the process of many requests once, and each process by itself', () => {
    const others = { ...intents('x y', 210), by: 'other' };
    const state = stateAfter(...probed, intents('a b c', 200), others, intents('d', 220));
    const json = encodeState(state);
    expect(json.split('"by"')).toHaveLength(1 + 3);
    expect(decodeState(json)).toEqual(state);
  });

  test('that a stranger has written names processes by text', () => {
    const { inFlight } = decodeState('{"inFlight":[["a",{"by":null}],["b",{"by":7}],["c",{"by":{}}],["d",{}]]}');
    expect([...inFlight.values()].map(({ by }) => typeof by)).toEqual(Array(4).fill('string'));
  });

  test('of an earlier version lacks what it did not know', () => {
    expect(decodeState('{"inFlight":[]}')).toEqual(emptyState());
    const { inFlight, gate } = decodeState('{"inFlight":[["a",{"sentAt":1}]],"gate":{"at":9,"wall":9,"length":9}}');
    expect(inFlight.get('a')).toEqual({ sentAt: 1, expires: 0, overBefore: 0, by: '', probe: false });
    expect(gate).toEqual({ at: 9, wall: 9, length: 9, reason: 'refused' });
  });

  test('of an earlier version may have a gate of centuries', () => {
    const gate = { at: 5e12 + 100, wall: now + 5e12, length: 5e12, reason: 'refused' as const };
    const read = { at: 100 + maxGateMs, wall: now + maxGateMs, length: maxGateMs };
    expect(decodeState(encodeState({ ...rich, gate })).gate).toMatchObject(read);
  });
});

test('what is forgotten is what the service said; requests in flight stay', () => {
  const state = stateAfter(...probed, intents('a b', 200), applyResponse('b', 250, { status: 429, retryAfter: 5000 }));
  forget(state);
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
])('boots %j and %j are the same: %s', (a, b, same) => {
  expect(isSameBoot(a, b)).toBe(same);
});
