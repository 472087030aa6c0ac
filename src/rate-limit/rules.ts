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
  whenReached,
  windowKinds,
} from './key-state.ts';
import type { ResponseHead } from './permits.ts';
import { maxGate, waitAfterRefusal, withJitter } from './waits.ts';

export type Decision =
  /** `permits`: how many requests; 1 for a probe. */
  | { readonly admitted: true; readonly probe: boolean; readonly permits: number }
  /** `retryAt`: when to try again; undefined if a request in flight has to end first. */
  | { readonly admitted: false; readonly retryAt: number | undefined };

export interface AdmissionRequest {
  /** Whether to hold back a small part of the limit for interactive commands. */
  readonly bulk: boolean;
  /**
   * How many requests must be admitted together. Fewer are admitted only if just a probe may be sent, or if a limit
   * never allows that many.
   */
  readonly minPermits: 1 | 2;
}

/**
 * Returns how many requests may be in flight. Too many refusals get a key banned. After a refused write these are four,
 * until a write is answered: an answer to a read shows nothing about writes. If others use the key, too, they may use up
 * the rest at any moment; then all requests in flight are refused. With few permits the number is so small that two
 * windows in a row cause fewer than ten refusals. With many permits, others would have to use nearly all that is left
 * within one round trip.
 */
function maxInFlight({ refusedWrites, foreignRate }: KeyState, permits: number): number {
  if (refusedWrites > 0) return Math.min(4, permits);
  return foreignRate > 0 ? Math.min(Math.max(4, Math.floor(permits / 16)), permits) : permits;
}

/**
 * Decides whether requests may be sent. All rules are here:
 *
 * - No request is sent before the gate lifts, or while any window is exhausted: wait for the later of the two.
 * - While nothing is known, after a window has ended, and after a gate, one request is sent as a probe; the others wait
 * for its response.
 * - Otherwise a request is sent if, for every window, `left` minus the requests in flight and the headroom is at least
 * one. For a fixed window without other users of the key this never exceeds the limit: `left` does not include requests
 * of ours that have ended, and the others are in flight.
 * - Two requests that belong together are not separated: a window with room for one counts as exhausted, unless it
 * never has more.
 * - After a refused write, four requests may be in flight until a write is answered.
 * - With other users of the key, half of what remains is theirs. A sixteenth of our half may be in flight, or four
 * requests if that is more.
 * @param at the time by the clock of the state
 */
export function decide(state: KeyState, at: number, { bulk, minPermits }: AdmissionRequest): Decision {
  // While the gate is closed, the windows are judged by the time at which it lifts.
  const first = Math.max(at, state.gate.at);
  const known = Object.values(state.windows);
  const windows = known.filter((window) => !hasEnded(state, window, first));
  const onlyProbe = state.halfOpen || known.length === 0 || windows.length < known.length;
  const needed = onlyProbe ? 1 : Math.min(minPermits, ...windows.map((window) => windowCapacity(state, window, bulk)));
  const pending = countPending(state, at);
  // Requests of dead processes count as used, like answered requests.
  const dead = state.inFlight.size - pending;
  const room = (window: Window) => permitsIn(state, window.left - dead - headroom(state, window, first, bulk));
  const spent = windows.filter((window) => room(window) < needed);
  if (spent.length > 0 || at < first) {
    return { admitted: false, retryAt: Math.max(first, ...spent.map((window) => whenReached(state, window.reset))) };
  }
  if (onlyProbe) return decideProbe(state, at);
  const free = Math.min(...windows.map(room));
  const permits = maxInFlight(state, free) - pending;
  return permits < needed ? { admitted: false, retryAt: undefined } : { admitted: true, probe: false, permits };
}

function decideProbe(state: KeyState, at: number): Decision {
  for (const { probe, expires } of state.inFlight.values()) {
    if (probe && expires > at) return { admitted: false, retryAt: undefined };
  }
  return { admitted: true, probe: true, permits: 1 };
}

/**
 * Returns how many requests may be in flight at once. With other users of the key, each of our requests may be matched
 * by one of theirs.
 */
function permitsIn({ foreignRate }: KeyState, free: number): number {
  return foreignRate > 0 ? Math.floor((free + 1) / 2) : free;
}

/**
 * Returns how many requests may be in flight in a window that has just begun; at least one, so that an attempt is
 * possible.
 */
function windowCapacity(state: KeyState, window: Window, bulk: boolean): number {
  const free = window.limit - headroom(state, window, window.toldAt, bulk);
  return Math.max(1, permitsIn(state, free));
}

function countPending(state: KeyState, at: number): number {
  let count = 0;
  for (const { expires } of state.inFlight.values()) {
    if (expires > at) count += 1;
  }
  return count;
}

/**
 * Returns the part of a limit that a bulk run reserves for interactive commands: 2 %, at least 2, but at most a
 * quarter.
 */
export function bulkReserve(limit: number): number {
  return Math.min(Math.max(2, Math.ceil(limit * 0.02)), Math.floor(limit / 4));
}

/**
 * Returns the daily window, and what is left in it for others, if nothing is left for this command; otherwise
 * undefined.
 */
export function exhaustedDailyQuota(
  state: KeyState,
  at: number,
  bulk = false,
): { readonly limit: number; readonly left: number; readonly resetAt: number } | undefined {
  const { day } = state.windows;
  if (day === undefined || hasEnded(state, day, at)) return undefined;
  const reserve = bulk ? bulkReserve(day.limit) : 0;
  return day.left > reserve ? undefined : { limit: day.limit, left: Math.max(0, day.left), resetAt: day.reset };
}

/**
 * Returns how many requests to hold back: the reserve for interactive commands during a bulk run, plus, if others use
 * the key, one more than they may have sent since the last response.
 */
function headroom(state: KeyState, window: Window, at: number, bulk: boolean): number {
  const reserve = bulk ? bulkReserve(window.limit) : 0;
  if (state.foreignRate === 0) return reserve;
  const seconds = (state.roundTrip + at - window.toldAt) / 1000;
  return reserve + 1 + Math.ceil(state.foreignRate * Math.max(0, seconds));
}

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
  readonly isWrite: boolean;
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

type Receipt = Pick<AnswerRecord, 'id' | 'at' | 'leftAt' | 'isWrite' | 'random'>;

/**
 * Converts the head of an answer to a record.
 * @param state what is known about the key
 */
export function recordOf(
  { status, headers }: ResponseHead,
  { state, ...receipt }: Receipt & { readonly state: KeyState },
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
  const { id, isWrite } = record;
  const request = removeInFlight(state, id);
  // A request whose reservation has ended counts as sent long ago, because its answer is outdated.
  const sentAt = request?.sentAt ?? Number.NEGATIVE_INFINITY;
  if (request !== undefined) updateClock(state, record, request);
  updateWindows(state, record, request);
  if (closesGate(record)) closeGate(state, record, sentAt);
  else if (sentAt >= state.gate.at) {
    state.halfOpen = false;
    state.episodes = 0;
    if (isWrite) state.refusedWrites = 0;
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
 * gate of the last one lifted. The episodes of writes go on although reads are answered between them.
 */
function closeGate(
  state: KeyState,
  { at, status, isWrite, date, retryAfter, reset, random }: AnswerRecord,
  sentAt: number,
): void {
  const isRefusal = status === 429;
  if (isRefusal && (state.episodes === 0 || sentAt >= state.gate.at)) {
    state.episodes += 1;
    if (isWrite) {
      state.refusedWrites += 1;
      state.episodes = Math.max(state.episodes, state.refusedWrites);
    }
  }
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
