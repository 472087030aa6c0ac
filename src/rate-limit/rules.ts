import { hasEnded, type KeyState, type Window, whenReached } from './key-state.ts';

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
 * Returns how many requests may be in flight if others use the key, too. Others may use up the rest at any moment; then
 * all requests in flight are refused, and too many refusals get a key banned. With few permits the number is so small
 * that two windows in a row cause fewer than ten refusals. With many permits, others would have to use nearly all that
 * is left within one round trip.
 */
function maxInFlightOnSharedKey(permits: number): number {
  return Math.max(4, Math.floor(permits / 16));
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
  const most = state.foreignRate > 0 ? maxInFlightOnSharedKey(free) : free;
  const permits = Math.min(most, free) - pending;
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
