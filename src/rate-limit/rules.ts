import { whenReached } from './clock-offset.ts';
import { hasEnded, type KeyState } from './key-state.ts';
import type { Window } from './window.ts';

/** Whether requests may leave at a moment. */
export type Decision =
  /** `permits`: how many; one if it is a probe. */
  | { readonly admitted: true; readonly probe: boolean; readonly permits: number }
  /** `retryAt`: by the monotonic clock; undefined: until something in flight is answered. */
  | { readonly admitted: false; readonly retryAt: number | undefined };

export interface AdmissionRequest {
  /** Leaves a small part of the limit to people. */
  readonly bulk: boolean;
  /** Others use the key whose requests are not seen here: one at a time. */
  readonly exclusive?: boolean;
  /** How many have to go together; fewer only if a probe may go, or if a limit never leaves room for so many. */
  readonly minPermits: 1 | 2;
}

/**
 * Returns how many requests may be in flight if others use the key too. Others may take all that is left at any moment,
 * and then as many are refused at once; a key is banned for too many refusals. With few places that is so few that
 * two windows in a row don't add up to ten. With many, others would have to take 15 of 16 places within one round trip.
 */
function maxInFlightOnSharedKey(permits: number): number {
  return Math.max(4, Math.floor(permits / 16));
}

/**
 * The rules, all of them:
 *
 * - No request is sent before the gate lifts, or while any window is exhausted: wait for the later of the two.
 * - While nothing is known, or a window has ended, or after a gate, one request goes as a probe; the others wait for
 *   its answer.
 * - Else a request goes while, for every window, the smallest remaining that came, less what is in flight, less the
 *   headroom, is at least one. For a fixed window without other users of the key that never passes the limit: each
 *   answered request was counted when the smallest came, and the others are in flight.
 * - Two that have to go together are not parted: a window with room for one is taken for spent, unless it never has
 *   more.
 * - Beside others on the key a sixteenth of what is left may be in flight, or four; and one if they can't be seen at
 *   all.
 *
 * @param at by the monotonic clock
 */
export function decide(
  state: KeyState,
  at: number,
  { bulk, minPermits, exclusive = false }: AdmissionRequest,
): Decision {
  // Behind a gate it is asked what will stand in the way once it has lifted.
  const first = Math.max(at, state.gate.at);
  const known = Object.values(state.windows);
  const windows = known.filter((window) => !hasEnded(state, window, first));
  const onlyProbe = state.halfOpen || known.length === 0 || windows.length < known.length;
  const needed = onlyProbe ? 1 : Math.min(minPermits, ...windows.map((window) => windowCapacity(state, window, bulk)));
  const pending = countPending(state, at);
  // The requests of processes that have died are taken for counted, like those that were answered.
  const dead = state.inFlight.size - pending;
  const room = (window: Window) => permitsIn(state, window.left - dead - headroom(state, window, first, bulk));
  const spent = windows.filter((window) => room(window) < needed);
  if (spent.length > 0 || at < first) {
    return { admitted: false, retryAt: Math.max(first, ...spent.map((window) => windowEnd(state, window))) };
  }
  // That a window has ended is known by one response alone: others of it, from a backend that is behind, are on their way.
  if (windows.length < known.length && state.offset?.single && pending > 0)
    return { admitted: false, retryAt: undefined };
  if (onlyProbe) return decideProbe(state, at);
  const free = Math.min(...windows.map(room));
  const most = exclusive ? needed : state.foreignRate > 0 ? maxInFlightOnSharedKey(free) : free;
  const permits = Math.min(most, free) - pending;
  return permits < needed ? { admitted: false, retryAt: undefined } : { admitted: true, probe: false, permits };
}

function decideProbe(state: KeyState, at: number): Decision {
  for (const { probe, expires } of state.inFlight.values()) {
    if (probe && expires > at) return { admitted: false, retryAt: undefined };
  }
  return { admitted: true, probe: true, permits: 1 };
}

/** How many requests may be in flight at once. Where others use the key, each of ours stands for one of theirs too. */
function permitsIn({ foreignRate }: KeyState, free: number): number {
  return foreignRate > 0 ? Math.floor((free + 1) / 2) : free;
}

/** How many may be in flight in a window that has just begun; at least one, so that somebody may try. */
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

/** Returns the part of a limit that a bulk run leaves to people: of a small one a quarter at most. */
export function bulkReserve(limit: number): number {
  return Math.min(Math.max(2, Math.ceil(limit * 0.02)), Math.floor(limit / 4));
}

/** Returns the window of the day, with what is left for others, if it has nothing left for this command. */
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
 * Returns how many requests to hold back: the reserve for interactive commands during a bulk run, plus what other users
 * of the key may have sent since the last response.
 */
function headroom(state: KeyState, window: Window, at: number, bulk: boolean): number {
  const reserve = bulk ? bulkReserve(window.limit) : 0;
  if (state.foreignRate === 0) return reserve;
  const seconds = (state.roundTrip + at - window.toldAt) / 1000;
  return reserve + 1 + Math.ceil(state.foreignRate * Math.max(0, seconds));
}

/** The first moment of the monotonic clock at which a window has ended for sure. */
function windowEnd({ offset }: KeyState, window: Window): number {
  return offset ? whenReached(offset, window.reset) : 0;
}
