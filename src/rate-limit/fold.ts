import { waitAfterRefusal, withJitter } from './backoff.ts';
import { disagreement, guess, narrow } from './clock-offset.ts';
import {
  boundedGate,
  type Gate,
  hasEnded,
  type InFlight,
  isSameBoot,
  type KeyState,
  maxGateMs,
  serviceTime,
  type WindowKind,
  windowKinds,
} from './key-state.ts';
import type { IntentRecord, LimitRecord, ResponseRecord, StartRecord } from './limit-records.ts';
import { closesGate } from './observation.ts';
import { decide } from './rules.ts';
import { countDown, foreignRate, observe, resetJitter, type Window } from './window.ts';

/** How long to wait after a 429 that has neither a Retry-After nor a valid end of its window, in milliseconds. */
const standardWait = 60_000;
/** A window that ends more than this many milliseconds from now is the daily window. */
const maxMinute = 62_000;
/** A window that ends more than this many milliseconds from now is ignored. */
const maxWindow = maxGateMs;

/**
 * Two boot ids with boot times less than this apart, in milliseconds, belong to one boot: no machine restarts so fast.
 */
const sameClocks = 1000;

/**
 * Folds one record into the state. The result depends only on the records and their order, never on the process that
 * folds them.
 */
export function fold(state: KeyState, record: LimitRecord): void {
  switch (record.type) {
    case 'start':
      applyStart(state, record);
      break;
    case 'intent':
      applyIntent(state, record);
      break;
    case 'answer':
      applyResponse(state, record);
      break;
    case 'lost':
      if (removeInFlight(state, record.id)) countAll(state);
      break;
    case 'unsent':
      removeInFlight(state, record.id);
  }
}

/**
 * Converts the state to the clocks of another boot. After a restart the monotonic clock starts from 0, and only the
 * wall clock shows how much time has passed. If the wall clock went back (a machine without a battery), a gate lasts at
 * most for its original length, and the windows are dropped.
 */
function applyStart(state: KeyState, { boot, env, at, wall }: StartRecord): void {
  const { offset, gate } = state;
  if (isSameBoot(state.boot, boot)) return;
  // Containers of one machine may have their own boot ids and share its clocks.
  if (state.boot !== '' && Math.abs(wall - at - state.bootedAt) < sameClocks) {
    state.boot = boot;
    return;
  }
  const restarted = state.boot !== '';
  if (restarted) {
    for (const id of state.inFlight.keys()) if (removeInFlight(state, id)) countAll(state);
    const windows = Object.values(state.windows);
    if (windows.some(({ asOf }) => wall < asOf)) state.windows = {};
    const shift = wall - at - state.bootedAt;
    state.offset = offset && { least: offset.least + shift, most: offset.most + shift, at, guessed: true };
    const rest = Math.min(gate.wall - wall, gate.length);
    state.gate = { ...gate, at: rest > 0 ? at + rest : 0 };
  }
  state.boot = boot;
  state.bootedAt = wall - at;
  state.env = env;
}

function applyIntent(state: KeyState, { ids, at, expires, by, ...wish }: IntentRecord): void {
  for (const [id, { expires }] of state.inFlight) {
    if (expires <= at && removeInFlight(state, id)) countAll(state);
  }
  const decision = decide(state, at, wish);
  if (!decision.admitted) return;
  const request = { by, sentAt: at, expires, probe: decision.probe, overBefore: state.over };
  for (const id of ids.slice(0, decision.permits)) state.inFlight.set(id, request);
}

/**
 * Removes a request that has ended.
 * @returns the request; undefined if it was not in flight
 */
function removeInFlight(state: KeyState, id: string): InFlight | undefined {
  const request = state.inFlight.get(id);
  if (state.inFlight.delete(id)) state.over += 1;
  return request;
}

function countAll(state: KeyState): void {
  for (const kind of windowKinds) {
    const window = state.windows[kind];
    if (window) state.windows[kind] = countDown(window);
  }
}

function applyResponse(state: KeyState, record: ResponseRecord): void {
  const { id, at, wall, status } = record;
  const request = removeInFlight(state, id);
  const sentAt = sentAtOf(request);
  state.bootedAt = wall - at;
  updateClock(state, record, request);
  updateWindows(state, record, request);
  if (status === 429) closeGateAfter429(state, record, sentAt);
  else if (closesGate(record)) closeGateForOutage(state, record);
  else if (sentAt >= state.gate.at) {
    state.halfOpen = false;
    state.episodes = 0;
  }
}

/**
 * Returns when a request was admitted, which is the earliest time it can have been sent. A request that was given up
 * counts as sent long ago, because its response is outdated.
 */
function sentAtOf(request: InFlight | undefined): number {
  return request?.sentAt ?? Number.NEGATIVE_INFINITY;
}

/**
 * Updates the clock offset and the round trip. If the request had been given up, only guesses an unknown offset from
 * the wall clock.
 */
function updateClock(state: KeyState, record: ResponseRecord, request: InFlight | undefined): void {
  const { date, wall, at } = record;
  if (state.offset === undefined || (date === undefined && state.offset.guessed)) state.offset = guess(wall, at);
  if (request === undefined) return;
  const { leftAt: sentAt = request.sentAt } = record;
  if (date !== undefined) {
    state.offset = narrow(state.offset, { date, sentAt, receivedAt: at, isFirst: isFirstOfWindow(state, record) });
  }
  state.roundTrip = state.roundTrip === 0 ? at - sentAt : state.roundTrip * 0.8 + (at - sentAt) * 0.2;
}

/** Reports whether a response is the first to report a new minute window. */
function isFirstOfWindow(state: KeyState, { reset, at }: ResponseRecord): boolean {
  const { minute } = state.windows;
  const now = serviceTime(state, at);
  if (minute === undefined || reset === undefined || now === undefined) return false;
  return reset > minute.reset + resetJitter && reset - now <= maxMinute;
}

/**
 * Updates the windows from the headers. The window that the headers don't describe is counted down, or dropped if it
 * has ended. Without valid headers every window is counted down.
 */
function updateWindows(state: KeyState, record: ResponseRecord, request: InFlight | undefined): void {
  const { at, wall, limit, remaining, reset } = record;
  const now = serviceTime(state, at) ?? wall;
  if (limit === undefined || remaining === undefined || reset === undefined || reset - now > maxWindow) {
    countAll(state);
    return;
  }
  const shown = reset - now > maxMinute ? 'day' : 'minute';
  const sentAt = sentAtOf(request);
  const meanwhile = request ? state.over - request.overBefore - 1 : state.over;
  const isFlipped = windowKinds.some((kind) => kind !== shown && (state.windows[kind]?.toldAt ?? sentAt) > sentAt);
  const missed = request !== undefined && isFlipped ? meanwhile : 0;
  const refused = record.status === 429;
  const tolerance = resetJitter + (state.offset ? disagreement(state.offset) : 0);
  const seen = { reset, limit, remaining, sentAt, receivedAt: at, asOf: wall, meanwhile, missed, refused, tolerance };
  const before = state.windows[shown]?.first;
  for (const kind of windowKinds) {
    const window = state.windows[kind];
    if (kind === shown) state.windows[kind] = observe(window, seen, !window || hasEnded(state, window, sentAt));
    else if (window === undefined) continue;
    else if (!hasEnded(state, window, at)) state.windows[kind] = countDown(window);
    // The window is kept if the response itself belongs to an ended window, because such a response reveals nothing
    // about the next window.
    else if (reset > now) delete state.windows[kind];
  }
  updateForeignRate(state, shown, before);
}

/**
 * Updates the rate of other users. The rate rises at once, and halves with each new window that does not show a higher
 * rate.
 */
function updateForeignRate(state: KeyState, kind: WindowKind, before: Window['first'] | undefined): void {
  const window = state.windows[kind];
  if (window === undefined) return;
  const rate = foreignRate(window, state.inFlight.size);
  if (rate > state.foreignRate) state.foreignRate = rate;
  else if (window.first !== before) state.foreignRate = state.foreignRate < 0.05 ? 0 : state.foreignRate / 2;
}

/**
 * Closes the gate, or extends it; never shortens it. A request that was sent before the gate lifted belongs to the
 * episode of that gate. The first 429 of a request that was sent after the gate lifted starts another episode.
 */
function closeGateAfter429(state: KeyState, record: ResponseRecord, sentAt: number): void {
  const { at, wall, retryAfter, reset, random = 0 } = record;
  if (state.episodes === 0 || sentAt >= state.gate.at) state.episodes += 1;
  const now = Math.min(record.date ?? Number.POSITIVE_INFINITY, serviceTime(state, at) ?? wall);
  const untilReset = reset === undefined || reset <= now || reset - now > maxWindow ? undefined : reset - now;
  const length = waitAfterRefusal(retryAfter ?? untilReset ?? standardWait, state.episodes, random);
  raiseGate(state, { at: at + length, wall: wall + length, length, reason: 'refused' });
}

/** Closes the gate for a wait that a gateway asked for. Unlike a 429, this starts no episode. */
function closeGateForOutage(state: KeyState, { at, wall, retryAfter = 0, random = 0 }: ResponseRecord): void {
  const length = withJitter(retryAfter, random);
  raiseGate(state, { at: at + length, wall: wall + length, length, reason: 'unavailable' });
}

function raiseGate(state: KeyState, gate: Gate): void {
  const raised = boundedGate(gate);
  state.halfOpen = true;
  if (raised.at > state.gate.at) state.gate = raised;
}
