import { waitAfterRefusal } from './backoff.ts';
import { narrow } from './clock-offset.ts';
import { decodeState, emptyState, hasEnded, type KeyState, serviceTime, windowKinds } from './key-state.ts';
import type { AnswerRecord, IntentRecord, LedgerRecord, StartRecord } from './records.ts';
import { decide } from './rules.ts';
import { countDown, foreignRate, observe } from './window.ts';

/** What a 429 without any time of its own waits for. */
const standardWait = 60_000;
/** A window whose end is farther away is that of a day. */
const longestMinute = 62_000;

/** Takes one record into the state. The state depends on the records and their order alone, never on who reads them. */
export function fold(state: KeyState, record: LedgerRecord): void {
  switch (record.type) {
    case 'summary':
      Object.assign(state, emptyState(), decodeState(record.state));
      break;
    case 'start':
      start(state, record);
      break;
    case 'intent':
      intend(state, record);
      break;
    case 'answer':
      answer(state, record);
      break;
    case 'lost':
      if (state.inFlight.delete(record.id)) countAll(state);
  }
}

/** After a restart the monotonic clock counts anew: of the gate only its wall time still means something. */
function start(state: KeyState, { boot, env, at, wall }: StartRecord): void {
  if (state.boot !== '' && state.boot !== boot) {
    state.offset = undefined;
    state.windows = {};
    state.inFlight.clear();
    state.gate = state.gateWall > wall ? at + state.gateWall - wall : 0;
  }
  state.boot = boot;
  state.env = env;
}

function intend(state: KeyState, { id, at, expires, bulk }: IntentRecord): void {
  expire(state, at);
  const verdict = decide(state, at, bulk);
  if (verdict.go) state.inFlight.set(id, { sentAt: at, expires, probe: verdict.probe });
}

/** Gives up what a process that died has in flight. */
export function expire(state: KeyState, at: number): void {
  for (const [id, { expires }] of state.inFlight) {
    if (expires > at) continue;
    state.inFlight.delete(id);
    countAll(state);
  }
}

function countAll(state: KeyState): void {
  for (const kind of windowKinds) {
    const window = state.windows[kind];
    if (window) state.windows[kind] = countDown(window);
  }
}

function answer(state: KeyState, record: AnswerRecord): void {
  const { id, at, status } = record;
  const request = state.inFlight.get(id);
  state.inFlight.delete(id);
  const sentAt = request?.sentAt ?? at;
  state.offset = narrow(state.offset, record.date ?? record.wall, sentAt, at);
  state.roundTrip = state.roundTrip === 0 ? at - sentAt : state.roundTrip * 0.8 + (at - sentAt) * 0.2;
  learn(state, record, sentAt);
  if (status === 429) refuse(state, record, sentAt);
  else if (sentAt >= state.gate) {
    state.halfOpen = false;
    state.episodes = 0;
  }
}

/** What the headers tell. The window that they don't tell is counted down, or, if it has ended, forgotten. */
function learn(state: KeyState, record: AnswerRecord, sentAt: number): void {
  const { at, wall, limit, remaining, reset } = record;
  if (limit === undefined || remaining === undefined || reset === undefined) {
    countAll(state);
    return;
  }
  const now = serviceTime(state, at) ?? wall;
  const shown = reset - now > longestMinute ? 'day' : 'minute';
  const told = { reset, limit, remaining, sentAt, receivedAt: at, asOf: wall };
  for (const kind of windowKinds) {
    const window = state.windows[kind];
    if (kind === shown) state.windows[kind] = observe(window, told);
    else if (window === undefined) continue;
    else if (!hasEnded(state, window, at)) state.windows[kind] = countDown(window);
    // The answer of a window that has ended itself says nothing of the one that has begun.
    else if (reset > now) delete state.windows[kind];
  }
  learnOfOthers(state, shown);
}

/** The rate of others rises at once, and halves with each new window that shows none. */
function learnOfOthers(state: KeyState, kind: 'minute' | 'day'): void {
  const window = state.windows[kind];
  if (window === undefined) return;
  const rate = foreignRate(window, state.inFlight.size);
  const isNew = window.own === 0;
  if (rate > state.foreignRate) state.foreignRate = rate;
  else if (isNew) state.foreignRate = state.foreignRate < 0.05 ? 0 : state.foreignRate / 2;
}

/**
 * Raises the gate, never lowers it. A request that was sent before the gate lifted belongs to the episode that raised
 * it, so only the first after it counts as another.
 */
function refuse(state: KeyState, record: AnswerRecord, sentAt: number): void {
  const { at, wall, retryAfter, reset, date, random = 0 } = record;
  if (state.episodes === 0 || sentAt >= state.gate) state.episodes += 1;
  const untilReset = reset === undefined ? undefined : Math.max(0, reset - (date ?? wall));
  const wait = waitAfterRefusal(retryAfter ?? untilReset ?? standardWait, state.episodes, random);
  state.halfOpen = true;
  if (at + wait > state.gate) {
    state.gate = at + wait;
    state.gateWall = wall + wait;
  }
}
