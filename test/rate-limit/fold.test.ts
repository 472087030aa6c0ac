import { describe, expect, test } from 'vitest';
import { fold } from '../../src/rate-limit/fold.ts';
import {
  decodeState,
  emptyState,
  encodeState,
  forget,
  isSameBoot,
  type KeyState,
  longestGate,
  serviceTime,
} from '../../src/rate-limit/key-state.ts';
import type { AnswerRecord, LimitRecord } from '../../src/rate-limit/records.ts';

const now = Date.UTC(2026, 0, 15, 12);
const start: LimitRecord = { type: 'start', boot: 'one', env: 'staging', at: 0, wall: now };
const intents = (ids: readonly string[], at = 0, least: 1 | 2 = 1): LimitRecord => ({
  type: 'intent',
  ids,
  least,
  by: 'me',
  at,
  expires: at + 31_000,
  bulk: false,
});
const intent = (id: string, at = 0): LimitRecord => intents([id], at);
const answer = (id: string, at: number, changes: Partial<AnswerRecord> = {}): LimitRecord => ({
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
const bare = { limit: undefined, remaining: undefined, reset: undefined };
const stateAfter = (...records: LimitRecord[]): KeyState => {
  const state = emptyState();
  for (const record of [start, ...records]) fold(state, record);
  return state;
};
const probed = [intent('probe'), answer('probe', 100)];

describe('windows', () => {
  test.each<[string, LimitRecord[], number | undefined]>([
    ['of an answer', probed, 10],
    ['after one that was lost', [...probed, intent('a', 200), { type: 'lost', id: 'a' }], 9],
    ['after one that was never sent', [...probed, intent('a', 200), { type: 'unsent', id: 'a' }], 10],
    ['after an answer without headers', [...probed, intent('a', 200), answer('a', 300, bare)], 9],
    ['after one whose process died', [...probed, intent('a', 200), intent('b', 31_200)], 9],
    ['after one that was lost twice', [...probed, { type: 'lost', id: 'probe' }], 10],
    ['after an end in a hundred years', [...probed, intent('a', 200), answer('a', 300, { reset: now + 3e12 })], 9],
    ['none but bare answers', [intent('a'), answer('a', 100, bare)], undefined],
  ])('%s', (_what, records, left) => {
    expect(stateAfter(...records).windows.minute?.left).toBe(left);
  });

  test('told by turns, each is counted down while the other is told', () => {
    const day = { limit: 1000, remaining: 9, reset: now + 43_200_000 };
    const { windows } = stateAfter(
      ...probed,
      intent('a', 200),
      answer('a', 300, day),
      intent('b', 400),
      answer('b', 500),
    );
    expect([windows.minute?.left, windows.day?.left]).toEqual([9, 8]);
  });

  test('a minute that has ended is forgotten when the day is told', () => {
    const day = { limit: 1000, remaining: 9, reset: now + 43_200_000 };
    const { windows } = stateAfter(...probed, intent('a', 70_000), answer('a', 70_100, day));
    expect(Object.keys(windows)).toEqual(['day']);
  });
});

describe('a 429', () => {
  const refusal = (id: string, at: number, changes: Partial<AnswerRecord> = {}) =>
    answer(id, at, { status: 429, ...bare, retryAfter: 5000, random: 0, ...changes });

  test.each<[string, LimitRecord[], number, number]>([
    ['raises a gate', [...probed, intent('a', 200), refusal('a', 300)], 5300, 1],
    [
      'of the same burst',
      [...probed, intent('a', 200), intent('b', 200), refusal('a', 300), refusal('b', 400)],
      5400,
      1,
    ],
    [
      'never lowers it',
      [...probed, intent('a', 200), intent('b', 200), refusal('a', 300), refusal('b', 400, { retryAfter: 0 })],
      5300,
      1,
    ],
    [
      'after the gate',
      [...probed, intent('a', 200), refusal('a', 300), intent('b', 5300), refusal('b', 5400)],
      10_400,
      2,
    ],
    [
      'without a time: to the end of the window',
      [intent('a'), refusal('a', 0, { retryAfter: undefined, reset: now + 9000 })],
      9000,
      1,
    ],
    ['without anything: 60 s', [intent('a'), refusal('a', 0, { retryAfter: undefined })], 60_000, 1],
    [
      'without Date: by the clock that was known',
      [
        ...probed,
        intent('a', 200),
        refusal('a', 300, { retryAfter: undefined, date: undefined, wall: now - 3_600_000, reset: now + 9000 }),
      ],
      9000,
      1,
    ],
  ])('%s', (_what, records, gate, episodes) => {
    const state = stateAfter(...records);
    expect(state.gate.at).toBeCloseTo(gate, 0);
    expect(state).toMatchObject({ episodes, halfOpen: true });
  });

  test('an answer to a request sent after the gate ends the episodes, one sent before does not', () => {
    const refused = [...probed, intent('slow', 200), intent('a', 200), refusal('a', 300)];
    expect(stateAfter(...refused, answer('slow', 400))).toMatchObject({ episodes: 1, halfOpen: true });
    expect(stateAfter(...refused, intent('b', 5300), answer('b', 5400))).toMatchObject({
      episodes: 0,
      halfOpen: false,
    });
  });
});

describe('the clock', () => {
  test('an answer that comes when its request had been given up does not touch it', () => {
    const { offset } = stateAfter(...probed);
    const late = stateAfter(...probed, intent('a', 200), intent('b', 40_000), answer('a', 50_000, { date: now + 300 }));
    expect(late.offset).toEqual(offset);
  });

  test('an answer without Date does not touch it', () => {
    const { offset } = stateAfter(...probed);
    expect(stateAfter(...probed, intent('a', 200), answer('a', 300, { date: undefined, wall: 0 })).offset).toEqual(
      offset,
    );
  });
});

test('an answer that comes when its request had been given up brings no old window back, and opens nothing', () => {
  const given = [...probed, intent('late', 200), intent('b', 61_000)];
  const next = answer('b', 61_100, { reset: now + 120_000, remaining: 19 });
  const refused = answer('c', 61_300, { status: 429, ...bare, retryAfter: 5000, random: 0 });
  const old = answer('late', 70_000, { date: now + 300, remaining: 9 });
  const state = stateAfter(...given, next, intent('c', 61_200), refused, old);
  expect(state.windows.minute).toMatchObject({ reset: now + 120_000 });
  expect(state).toMatchObject({ halfOpen: true, episodes: 1 });
});

describe('others', () => {
  test('what leaves the window beyond what we send is theirs, and is forgotten over some windows', () => {
    const state = stateAfter(...probed, intent('a', 1000), answer('a', 1100, { remaining: 5 }));
    expect(state.foreignRate).toBe(4);
    for (let n = 1; n <= 8; n += 1) {
      fold(state, intent(`n${n}`, n * 60_500));
      fold(state, answer(`n${n}`, n * 60_500 + 100, { reset: now + (n + 1) * 60_000, remaining: 19 }));
    }
    expect(state.foreignRate).toBe(0);
  });

  test('ours that were given up, and answered all the same, are none of theirs', () => {
    const burst = ['a', 'b', 'c', 'd'].map((id) => intent(id, 200));
    const state = stateAfter(...probed, ...burst, answer('d', 300, { remaining: 6 }), intent('e', 31_300));
    expect(state.windows.minute?.left).toBe(3);
    fold(state, answer('a', 31_400, { date: now + 300, remaining: 9 }));
    expect(state.foreignRate).toBe(0);
  });

  test('one of theirs shows also where ours were refused for it', () => {
    const burst = ['a', 'b'].map((id) => intent(id, 1000));
    const refused = ['a', 'b'].map((id) =>
      answer(id, 2100, { status: 429, remaining: 0, retryAfter: 5000, random: 0 }),
    );
    expect(stateAfter(...probed, ...burst, ...refused).foreignRate).toBe(5);
  });

  test('an answer that was overtaken by another of ours is no sign of them', () => {
    const day = { limit: 1000, remaining: 9, reset: now + 43_200_000 };
    const state = stateAfter(...probed, intent('a', 200), intent('b', 210), answer('b', 300, day));
    fold(state, answer('a', 310, { ...day, remaining: 10 }));
    fold(state, intent('c', 400));
    fold(state, answer('c', 500, { ...day, remaining: 8 }));
    expect(state.foreignRate).toBe(0);
  });

  test('a limit that is lowered is none of theirs', () => {
    const state = stateAfter(...probed, intent('a', 1000), answer('a', 1100, { limit: 12, remaining: 1 }));
    expect(state).toMatchObject({ foreignRate: 0, windows: { minute: { left: 1, limit: 12 } } });
  });
});

test('a request is in flight until its lease is over, and not a millisecond less', () => {
  expect(stateAfter(...probed, intent('a', 200), intent('b', 31_199)).inFlight.has('a')).toBe(true);
  expect(stateAfter(...probed, intent('a', 200), intent('b', 31_200)).inFlight.has('a')).toBe(false);
});

test('a backend that is 4 s behind counts to the end of its window, however often the other one answers', () => {
  const ahead = (id: string, at: number) => [intent(id, at), answer(id, at + 10, { date: now + at + 4000 })];
  const state = stateAfter(...probed, ...ahead('a', 200), ...ahead('b', 300), ...ahead('c', 400), ...ahead('d', 500));
  expect(serviceTime(state, 1000)).toBeLessThanOrEqual(now + 1000);
});

describe('several in one record', () => {
  test('as many as there is room for, the first ones', () => {
    const ids = Array.from({ length: 15 }, (_, n) => `r${n}`);
    expect([...stateAfter(...probed, intents(ids, 200)).inFlight.keys()]).toEqual(ids.slice(0, 10));
  });

  test('a probe is one', () => {
    expect([...stateAfter(intents(['a', 'b'], 0, 2)).inFlight.keys()]).toEqual(['a']);
  });

  test('a pair, or none', () => {
    const taken = [
      ...probed,
      intents(
        Array.from({ length: 9 }, (_, n) => `r${n}`),
        200,
      ),
    ];
    expect(stateAfter(...taken, intents(['a', 'b'], 300, 2)).inFlight.size).toBe(9);
    expect(stateAfter(...taken, intents(['a', 'b'], 300, 1)).inFlight.size).toBe(10);
  });
});

describe('a 503 with Retry-After', () => {
  const down = (id: string, at: number, retryAfter: number, changes: Partial<AnswerRecord> = {}) =>
    answer(id, at, { status: 503, ...bare, retryAfter, random: 0, ...changes });

  test.each<[string, LimitRecord, object]>([
    ['closes the gate', down('a', 300, 5000), { at: 5300, length: 5000, reason: 'unavailable' }],
    ['with jitter', down('a', 300, 5000, { random: 0.5 }), { at: 5550, length: 5250, reason: 'unavailable' }],
    ['of a gateway too', down('a', 300, 5000, { status: 502 }), { at: 5300, reason: 'unavailable' }],
    [
      'of a gateway that waits no longer too',
      down('a', 300, 5000, { status: 504 }),
      { at: 5300, reason: 'unavailable' },
    ],
    ['of no time does not', down('a', 300, 0), { at: 0 }],
    ['of another status does not', down('a', 300, 5000, { status: 500 }), { at: 0 }],
    ['is cut to 32 days', down('a', 300, 1e13), { at: 300 + longestGate, length: longestGate }],
  ])('%s', (_what, record, gate) => {
    expect(stateAfter(...probed, intent('a', 200), record).gate).toMatchObject(gate);
  });

  test('is no episode, and one request goes after it', () => {
    const state = stateAfter(...probed, intent('a', 200), down('a', 300, 5000), intents(['b', 'c'], 5300));
    expect(state).toMatchObject({ episodes: 0, halfOpen: true });
    expect([...state.inFlight.keys()]).toEqual(['b']);
    fold(state, answer('b', 5400));
    expect(state.halfOpen).toBe(false);
  });

  test('joins the others of its time, and never shortens a gate', () => {
    const state = stateAfter(...probed, intents(['a', 'b', 'c'], 200), down('a', 300, 5000), down('b', 400, 9000));
    fold(state, down('c', 500, 1000));
    expect(state).toMatchObject({ gate: { at: 9400 }, episodes: 0 });
  });

  test('does not end the episodes of 429s', () => {
    const refused = answer('a', 300, { status: 429, ...bare, retryAfter: 5000, random: 0 });
    const state = stateAfter(...probed, intent('a', 200), refused, intent('b', 5300), down('b', 5400, 1000));
    expect(state.episodes).toBe(1);
  });
});

test('a 429 that asks for more than 32 days closes the gate for 32 days', () => {
  const state = stateAfter(intent('a'), answer('a', 100, { status: 429, ...bare, retryAfter: 1e13, random: 0.9 }));
  expect(state.gate).toEqual({
    at: 100 + longestGate,
    wall: now + 100 + longestGate,
    length: longestGate,
    reason: 'refused',
  });
});

test('a start of the same boot changes nothing', () => {
  const state = stateAfter(...probed);
  const before = structuredClone(state);
  fold(state, { type: 'start', boot: 'one', env: 'production', at: 500, wall: 0 });
  expect(state).toEqual(before);
});

test('a boot id of its own, on the same clocks, is a container of this machine: what is in flight stays', () => {
  const state = stateAfter(...probed, intent('a', 200));
  fold(state, { type: 'start', boot: 'two', env: 'staging', at: 500, wall: now + 500 });
  expect(state).toMatchObject({ boot: 'two', over: 1, windows: { minute: { left: 10 } } });
  expect([...state.inFlight.keys()]).toEqual(['a']);
});

test('the round trip is counted from when a request left', () => {
  expect(stateAfter(intent('a'), answer('a', 1000, { leftAt: 900 })).roundTrip).toBe(100);
});

describe('a state as JSON', () => {
  const rich = () =>
    stateAfter(
      ...probed,
      intents(['a', 'b', 'c'], 200),
      intent('d', 210),
      answer('b', 250, { status: 429, retryAfter: 5000, random: 0.5 }),
      answer('x', 300, { limit: 1000, remaining: 50, reset: now + 43_200_000 }),
    );

  test('says all that is known', () => {
    expect(decodeState(encodeState(rich()))).toEqual(rich());
  });

  test('of an earlier version lacks what it did not know', () => {
    expect(decodeState('{"inFlight":[]}')).toEqual(emptyState());
    const { inFlight, gate } = decodeState('{"inFlight":[["a",{"sentAt":1}]],"gate":{"at":9,"wall":9,"length":9}}');
    expect(inFlight.get('a')).toEqual({ sentAt: 1, by: '' });
    expect(gate).toEqual({ at: 9, wall: 9, length: 9, reason: 'refused' });
  });

  test('of an earlier version may have a gate of centuries', () => {
    const gate = { at: 5e12 + 100, wall: now + 5e12, length: 5e12, reason: 'refused' as const };
    expect(decodeState(encodeState({ ...rich(), gate })).gate).toMatchObject({
      at: 100 + longestGate,
      wall: now + longestGate,
      length: longestGate,
    });
  });
});

test('what is forgotten is what the service said; requests in flight stay', () => {
  const state = stateAfter(...probed, intents(['a', 'b'], 200), answer('b', 250, { status: 429, retryAfter: 5000 }));
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
