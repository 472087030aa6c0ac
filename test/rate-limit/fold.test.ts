import { describe, expect, test } from 'vitest';
import { emptyState, type KeyState, withoutReported } from '../../src/rate-limit/key-state.ts';
import { decodeState, encodeState, setBack } from '../../src/rate-limit/limits-row.ts';
import { type AnswerRecord, closesGate, fold, type LimitRecord, recordOf } from '../../src/rate-limit/rules.ts';
import { maxGate } from '../../src/rate-limit/waits.ts';

const now = Date.UTC(2026, 0, 15, 12);
const intents = (ids: string, at = 0, minPermits: 1 | 2 = 1): LimitRecord => ({
  type: 'intent',
  ids: ids.split(' '),
  minPermits,
  at: now + at,
  expires: now + at + 31_000,
  bulk: false,
});
const answer = (id: string, at: number, changes: Partial<AnswerRecord> = {}): LimitRecord => ({
  type: 'answer',
  id,
  at: now + at,
  random: 0,
  status: 200,
  isWrite: false,
  date: now + at,
  limit: 20,
  remaining: 10,
  reset: now + 60_000,
  ...changes,
});
const asked = (id: string, at: number, changes: Partial<AnswerRecord> = {}) => [
  intents(id, at),
  answer(id, at + 100, changes),
];
const lost = (id: string): LimitRecord => ({ type: 'lost', id });
const bare = { limit: undefined, remaining: undefined, reset: undefined };
const wait = { retryAfter: 5000, random: 0 };
const refusal = (id: string, at: number, changes: Partial<AnswerRecord> = {}) =>
  answer(id, at, { status: 429, ...bare, ...wait, ...changes });
const down = (id: string, at: number, changes: Partial<AnswerRecord> = {}) =>
  answer(id, at, { status: 503, ...bare, ...wait, ...changes });

const stateAfter = (...records: LimitRecord[]): KeyState => {
  const state = emptyState();
  for (const record of records) fold(state, record);
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
const refusedWrites = ['a', 'b'].flatMap((id, n) =>
  asked(id, n * 5200, { status: 429, ...bare, ...wait, isWrite: true }),
);
const ofDay = { limit: 1000, remaining: 9, reset: now + 43_200_000 };
const fifteen = Array.from({ length: 15 }, (_, n) => `r${n}`);
const first = (count: number) => fifteen.slice(0, count).join(' ');
const full = [...probed, intents(first(9), 200)];
const givenUp = [...probed, ...['a', 'b', 'c', 'd'].map((id) => intents(id, 200)), answer('d', 300, { remaining: 6 })];
const others = [...probed, ...asked('a', 1000, { remaining: 5 })];
const quiet = [1, 2, 3, 4, 5, 6, 7, 8].flatMap((n) =>
  asked(`n${n}`, n * 60_500, { reset: now + (n + 1) * 60_000, remaining: 19 }),
);

const hourLong = { retryAfter: 3_600_000, random: 0.5 };
const left = (count: number) => ({ minute: { left: count } });
const gated = (at: number, episodes = 1) => ({ gate: { at: expect.closeTo(now + at, 0) }, episodes, halfOpen: true });
const held = (at: number, length: number) => ({ gate: { at: now + at, length, reason: 'unavailable' } });
const known = shown(stateAfter(...probed));

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
  ['counts a request whose response has no headers', [...sent, answer('a', 300, bare)], left(9)],
  ['keeps a request in flight until its lease ends', [...sent, intents('b', 31_199)], { inFlight: 'a b', ...left(10) }],
  ['counts a request whose lease has ended', [...sent, intents('b', 31_200)], { inFlight: 'b', ...left(9) }],
  [
    'ignores a reset that is a hundred years away',
    [...sent, answer('a', 300, { reset: now + 3e12 })],
    { ...left(9), day: undefined },
  ],
  ...(['limit', 'remaining', 'reset'] as const).map(
    (name): Case => [
      `counts a request whose response lacks X-RateLimit-${name}`,
      [...sent, answer('a', 300, { remaining: 3, [name]: undefined })],
      left(9),
    ],
  ),
  [
    "recognizes a window by the service's clock, not by the state's",
    [...asked('a', 0, { date: now + 86_400_000, reset: now + 86_460_000 })],
    { ...left(10), day: undefined },
  ],
  [
    'keeps a window whose reset moves by less than a second',
    [...sent, answer('a', 300, { reset: now + 60_500, remaining: 9 })],
    { minute: { left: 9, reset: now + 60_500, first: { left: 10 } } },
  ],
  [
    'begins a window anew if the last one had ended before the request was sent',
    [...probed, ...asked('a', 60_200, { reset: now + 60_900, remaining: 7 })],
    { minute: { left: 7, first: { left: 7 } } },
  ],
  [
    'does not subtract a request from a new window if it was answered within the last window',
    [
      ...[...probed, intents('a b', 59_900), answer('b', 59_950, { remaining: 9 })],
      answer('a', 60_100, { reset: now + 120_000, remaining: 19 }),
    ],
    { minute: { left: 19, own: 1 } },
  ],
  [
    'learns a window from the response to a request that was given up',
    [...probed, answer('late', 300, ofDay)],
    { ...left(9), day: { left: 9 } },
  ],
  [
    'keeps an ended day while a response reports a minute that has ended, too',
    [...asked('a', 0, { reset: now + 63_000 }), ...asked('b', 70_000)],
    { minute: { left: 10 }, day: { left: 10 } },
  ],
  [
    'does not learn a window from a response without headers',
    [intents('a'), answer('a', 100, bare)],
    { minute: undefined, day: undefined },
  ],
  [
    'counts each window down while responses report the other',
    [...sent, answer('a', 300, ofDay), ...asked('b', 400)],
    { ...left(9), day: { left: 8 } },
  ],
  [
    'forgets a minute that has ended when a response reports the day',
    [...probed, ...asked('a', 70_000, ofDay)],
    { minute: undefined, day: { left: 9 } },
  ],
  [
    'measures the round trip from the moment of sending',
    [intents('a'), answer('a', 1000, { leftAt: now + 900 })],
    { roundTrip: 100 },
  ],
  [
    'averages the round trips, with a fifth of the last one',
    [...probed, intents('a', 1000), answer('a', 2100)],
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
    [
      ...asked('probe', 0, { date: now + 3_600_100, reset: now + 3_660_000 }),
      intents('a', 200),
      refusal('a', 300, { retryAfter: undefined, date: undefined, reset: now + 3_609_000 }),
    ],
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
    { gate: { at: now + 100 + maxGate, length: maxGate, reason: 'refused' } },
  ],
  [
    'ends the episodes with a response after the gate',
    [...refused, ...asked('b', 5300)],
    { episodes: 0, halfOpen: false },
  ],
  [
    'counts 429s to writes on if reads are answered between them, but not those of reads',
    [...refusedWrites, ...asked('c', 11_000), ...asked('d', 12_000, { status: 429, ...bare, ...wait })],
    { episodes: 1, refusedWrites: 2 },
  ],
  [
    'continues with the next 429 to a write where those before ended',
    [...refusedWrites, ...asked('c', 11_000), ...asked('d', 12_000, { status: 429, ...bare, ...wait, isWrite: true })],
    { episodes: 3, refusedWrites: 3 },
  ],
  [
    'ends the episodes of writes with a response to a write',
    [...refusedWrites, ...asked('c', 11_000, { isWrite: true })],
    { episodes: 0, refusedWrites: 0 },
  ],
  [
    'keeps the episodes after a response to a request from before the gate',
    [...both, refusal('a', 300), answer('b', 400)],
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
  ['closes the gate after a 500 with Retry-After', [...sent, down('a', 300, { status: 500 })], held(5300, 5000)],
  [
    'closes the gate after a 403 with Retry-After, and counts it as no episode',
    [...sent, down('a', 300, { status: 403 })],
    { ...gated(5300, 0), gate: { reason: 'refused' } },
  ],
  [
    'limits the gate of a 503 to 32 days',
    [...sent, down('a', 300, { retryAfter: 1e13 })],
    held(300 + maxGate, maxGate),
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
    { gate: { at: now + 9400 }, episodes: 0 },
  ],
  [
    'keeps the episodes of 429s after a 503',
    [...refused, intents('b', 5300), down('b', 5400, { retryAfter: 1000 })],
    { episodes: 1 },
  ],

  [
    'ignores the clock in the response to an abandoned request',
    [...sent, intents('b', 40_000), answer('a', 50_000, { date: now + 300 })],
    { offset: known.offset },
  ],
  [
    'keeps the known clock after a response without Date',
    [...sent, answer('a', 300, { date: undefined })],
    { offset: known.offset },
  ],
  [
    'takes the highest lower bound of the service clock',
    [...asked('a', 0, { date: now + 900 }), ...asked('b', 200, { date: now })],
    { offset: { least: expect.closeTo(800, 0), at: now + 300 } },
  ],
  [
    'follows a service clock that was stepped back',
    [...asked('a', 0, { date: now + 9000 }), ...asked('b', 200, { date: now })],
    { offset: { least: -300 } },
  ],
  [
    'neither restores an old window nor opens a gate after the response to an abandoned request',
    [
      ...probed,
      intents('late', 200),
      intents('b', 61_000),
      answer('b', 61_100, { reset: now + 120_000, remaining: 19 }),
      intents('c', 61_200),
      refusal('c', 61_300),
      answer('late', 70_000, { date: now + 300, remaining: 9 }),
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
    [...givenUp, intents('e', 31_300), answer('a', 31_400, { date: now + 300, remaining: 9 })],
    { foreignRate: 0 },
  ],
  [
    'infers other users even from requests that are refused because of them',
    [
      ...probed,
      intents('a', 1000),
      intents('b', 1000),
      ...['a', 'b'].map((id) => answer(id, 2100, { status: 429, remaining: 0, ...wait })),
    ],
    { foreignRate: 5 },
  ],
  [
    'does not infer other users from responses that arrive out of order',
    [
      ...sent,
      intents('b', 210),
      answer('b', 300, ofDay),
      answer('a', 310, { ...ofDay, remaining: 10 }),
      ...asked('c', 400, { ...ofDay, remaining: 8 }),
    ],
    { foreignRate: 0 },
  ],
  [
    'subtracts from a new window what was answered before its first response',
    [...both, answer('b', 300, { remaining: 8 }), answer('a', 310, ofDay)],
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
])('%s', (_what, records, expected) => {
  expect(shown(stateAfter(...records))).toMatchObject(expected);
});

describe('encodeState and decodeState', () => {
  const rich = stateAfter(
    ...probed,
    intents('a b c', 200),
    intents('d', 210),
    answer('b', 250, { status: 429, retryAfter: 5000, random: 0.5 }),
    answer('x', 300, { ...ofDay, remaining: 50 }),
  );

  test('decodes the whole encoded state', () => {
    expect(decodeState(encodeState(rich))).toEqual(rich);
  });

  test.each(['', '{}', '[]', 'null', '{"inFlight":[]', '{"inFlight":[],"gate":{"at":"soon"}}'])(
    'rejects %j',
    (json) => {
      expect(() => decodeState(json)).toThrow();
    },
  );

  test('shortens a gate of centuries that an earlier version stored', () => {
    const gate = { at: now + 5e12 + 100, length: 5e12, reason: 'refused' as const };
    const read = { at: now + 100 + maxGate, length: maxGate };
    expect(decodeState(encodeState({ ...rich, gate })).gate).toMatchObject(read);
  });
});

test('forgets what the service reported, but keeps requests in flight', () => {
  const state = stateAfter(...probed, intents('a b', 200), answer('b', 250, { status: 429, retryAfter: 5000 }));
  const { inFlight, over, target } = state;
  expect([...inFlight.keys()]).toEqual(['a']);
  expect(withoutReported(state)).toEqual({ ...emptyState(), target, inFlight, over });
});

test('waits as long for everything as if no time had passed when the clock is set back', () => {
  const before = stateAfter(...probed, intents('a', 200), refusal('a', 300), intents('b', 400));
  const after = setBack(before, 86_400_000);
  expect(after.gate).toEqual({ ...before.gate, at: before.gate.at - 86_400_000 });
  const back = setBack(after, -86_400_000);
  expect(back).toEqual(before);
});

describe('recordOf', () => {
  const receipt = { id: 'a', at: now, leftAt: now - 100, isWrite: false, random: 0 };
  const waitOf = (status: number, retryAfter: string | undefined, state = emptyState()) =>
    recordOf({ status, headers: { 'retry-after': retryAfter } }, { ...receipt, state });

  test.each([
    [200, '5', undefined],
    [204, '5', undefined],
    [301, '5', 5000],
    [401, '5', 5000],
    [403, '5', 5000],
    [404, '5', 5000],
    [408, '5', 5000],
    [429, '5', 5000],
    [429, undefined, undefined],
    [500, '5', 5000],
    [503, '0', 0],
    [599, 'soon', 60_000],
  ])('reads a Retry-After of any answer but a success: %i, %j: %j', (status, asked, wait) => {
    expect(waitOf(status, asked).retryAfter).toBe(wait);
  });

  test.each([
    [200, '5', false],
    [429, undefined, true],
    [429, '0', true],
    [503, '0', false],
    [503, undefined, false],
    [503, '5', true],
    [401, '5', true],
    [307, '5', true],
  ])(
    'closes the gate after a 429, and after any other answer that asks for a wait: %i, %j: %s',
    (status, asked, closed) => {
      expect(closesGate(waitOf(status, asked))).toBe(closed);
    },
  );
});
