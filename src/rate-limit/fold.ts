import { parseDate, parseRateLimit, parseRetryAfter } from './headers.ts';
import {
  boundedGate,
  countDown,
  foreignRate,
  type Gate,
  hasEnded,
  type InFlight,
  type KeyState,
  laterGate,
  observe,
  serviceTime,
  type Window,
  type WindowKind,
  windowKinds,
} from './key-state.ts';
import type { ResponseHead } from './permits.ts';
import { type AdmissionRequest, decide } from './rules.ts';
import { maxGate, waitAfterRefusal, withJitter } from './waits.ts';

/** Requests are to be sent. Folding the record puts the first of them in flight: as many as may be sent, perhaps none. */
export interface IntentRecord extends AdmissionRequest {
  readonly type: 'intent';
  /** One id for each request, unique among all processes. */
  readonly ids: readonly string[];
  readonly at: number;
  readonly expires: number;
}

/** The head of an answer. */
export interface AnswerRecord {
  readonly type: 'answer';
  readonly id: string;
  readonly at: number;
  /** When the request was sent; undefined if that is not known. */
  readonly leftAt?: number | undefined;
  readonly status: number;
  /** The service's clock, in milliseconds since the Unix epoch. */
  readonly date?: number | undefined;
  readonly limit?: number | undefined;
  readonly remaining?: number | undefined;
  /** When the window ends, in milliseconds since the Unix epoch by the service's clock. */
  readonly reset?: number | undefined;
  /** The wait that any answer but a success asked for, in milliseconds. */
  readonly retryAfter?: number | undefined;
  /** A number in [0, 1) for the jitter of a gate. It is part of the record, so that folding is deterministic. */
  readonly random: number;
}

/** A request ended without an answer. The service may have counted a `lost` request, but not an `unsent` one. */
export interface EndRecord {
  readonly type: 'lost' | 'unsent';
  readonly id: string;
}

/** What happened to the requests of a key. Times are by the clock of the state, in milliseconds since the Unix epoch. */
export type LimitRecord = IntentRecord | AnswerRecord | EndRecord;

/** A window that ends more than this many milliseconds from now is the daily window. */
const maxMinute = 62_000;

/**
 * Converts the head of an answer to a record.
 * @param state what is known about the key
 */
export function recordOf(
  { status, headers }: ResponseHead,
  { state, ...receipt }: Pick<AnswerRecord, 'id' | 'at' | 'leftAt' | 'random'> & { readonly state: KeyState },
): AnswerRecord {
  const { at } = receipt;
  const date = parseDate(headers, at);
  // A wait until a date is counted from the earliest that the service's clock can be.
  const now = state.offset === undefined ? (date ?? at) : Math.min(date ?? at, serviceTime(state, at));
  const retryAfter = status >= 200 && status <= 299 ? undefined : parseRetryAfter(headers, now);
  return { type: 'answer', ...receipt, status, date, ...parseRateLimit(headers), retryAfter };
}

/** Reports whether a record closes the gate: a 429 always does, any other answer only if it asks for a wait. */
export function closesGate(record: LimitRecord): record is AnswerRecord {
  return record.type === 'answer' && (record.status === 429 || (record.retryAfter ?? 0) > 0);
}

/**
 * Folds one record into the state. The result depends only on the records and their order, never on the process that
 * folds them.
 */
export function fold(state: KeyState, record: LimitRecord): void {
  switch (record.type) {
    case 'intent':
      applyIntent(state, record);
      break;
    case 'answer':
      applyAnswer(state, record);
      break;
    case 'lost':
      if (removeInFlight(state, record.id)) countAll(state);
      break;
    case 'unsent':
      removeInFlight(state, record.id);
  }
}

function applyIntent(state: KeyState, { ids, at, expires, ...wish }: IntentRecord): void {
  for (const [id, { expires }] of state.inFlight) {
    if (expires <= at && removeInFlight(state, id)) countAll(state);
  }
  const decision = decide(state, at, wish);
  if (!decision.admitted) return;
  const request = { sentAt: at, expires, probe: decision.probe, overBefore: state.over };
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

function applyAnswer(state: KeyState, record: AnswerRecord): void {
  const request = removeInFlight(state, record.id);
  // A request whose reservation has ended counts as sent long ago, because its answer is outdated.
  const sentAt = request?.sentAt ?? Number.NEGATIVE_INFINITY;
  if (request !== undefined) updateClock(state, record, request);
  updateWindows(state, record, request);
  if (closesGate(record)) closeGate(state, record, sentAt);
  else if (sentAt >= state.gate.at) {
    state.halfOpen = false;
    state.episodes = 0;
  }
}

/**
 * Updates the offset of the clocks and the round trip. The service wrote the `Date`, which has whole seconds, between
 * sending and receipt. The highest lower bound counts, unless this answer contradicts it: then a clock was stepped.
 */
function updateClock(state: KeyState, { date, at, leftAt }: AnswerRecord, request: InFlight): void {
  const sentAt = leftAt ?? request.sentAt;
  state.roundTrip = state.roundTrip === 0 ? at - sentAt : state.roundTrip * 0.8 + (at - sentAt) * 0.2;
  if (date === undefined) return;
  const least = date - at;
  const known = state.offset === undefined ? Number.NEGATIVE_INFINITY : serviceTime(state, at) - at;
  const isContradicted = known > date + 1000 - sentAt;
  state.offset = { least: isContradicted ? least : Math.max(known, least), at };
}

/**
 * Updates the windows from the headers. The window that the headers don't describe is counted down, or dropped if it
 * has ended. Without valid headers every window is counted down.
 */
function updateWindows(state: KeyState, record: AnswerRecord, request: InFlight | undefined): void {
  const { at, limit, remaining, reset } = record;
  const now = serviceTime(state, at);
  if (limit === undefined || remaining === undefined || reset === undefined || reset - now > maxGate) {
    countAll(state);
    return;
  }
  const shown = reset - now > maxMinute ? 'day' : 'minute';
  const sentAt = request?.sentAt ?? Number.NEGATIVE_INFINITY;
  const meanwhile = request ? state.over - request.overBefore - 1 : state.over;
  const isFlipped = windowKinds.some((kind) => kind !== shown && (state.windows[kind]?.toldAt ?? sentAt) > sentAt);
  const missed = request !== undefined && isFlipped ? meanwhile : 0;
  const seen = { reset, limit, remaining, sentAt, receivedAt: at, meanwhile, missed, refused: record.status === 429 };
  const before = state.windows[shown]?.first;
  for (const kind of windowKinds) {
    const window = state.windows[kind];
    if (kind === shown) state.windows[kind] = observe(window, seen, !window || hasEnded(state, window, sentAt));
    else if (window === undefined) continue;
    else if (!hasEnded(state, window, at)) state.windows[kind] = countDown(window);
    // The window is kept if the answer itself belongs to an ended window, because such an answer reveals nothing about
    // the next window.
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
 * Closes the gate, or extends it; never shortens it. A 429 begins an episode, unless its request was sent before the
 * gate of the last one lifted.
 */
function closeGate(
  state: KeyState,
  { at, status, date, retryAfter, reset, random }: AnswerRecord,
  sentAt: number,
): void {
  const isRefusal = status === 429;
  if (isRefusal && (state.episodes === 0 || sentAt >= state.gate.at)) state.episodes += 1;
  const now = Math.min(date ?? Number.POSITIVE_INFINITY, serviceTime(state, at));
  const untilReset = reset === undefined || reset <= now || reset - now > maxGate ? undefined : reset - now;
  const length = isRefusal
    ? waitAfterRefusal(retryAfter ?? untilReset, state.episodes, random)
    : withJitter(retryAfter ?? 0, random);
  const reason: Gate['reason'] = status >= 500 ? 'unavailable' : 'refused';
  const gate: Gate = boundedGate({ at: at + length, length, reason });
  state.halfOpen = true;
  state.gate = laterGate(state.gate, gate);
}
