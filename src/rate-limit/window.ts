/** One fixed window of a limit, as reported by responses. Times but `reset` are by the clock of the state. */
export interface Window {
  /** When the window ends, in milliseconds since the Unix epoch by the service's clock. */
  readonly reset: number;
  readonly limit: number;
  /** At most `least`: requests that ended without reporting this window are subtracted, requests in flight are not. */
  readonly left: number;
  /** The smallest `remaining` seen. */
  readonly least: number;
  /** When the last report came. */
  readonly toldAt: number;
  /**
   * The first `remaining` that was seen in this window, or since its limit changed, and when. The difference to `least`
   * was used by us or by others.
   */
  readonly first: { readonly left: number; readonly at: number };
  /** How many of our requests may have been counted since `first`, without those in flight. */
  readonly own: number;
}

/** A window as reported by one response. */
export interface SeenWindow {
  readonly reset: number;
  readonly limit: number;
  readonly remaining: number;
  /** When the request was admitted and the response came. */
  readonly sentAt: number;
  readonly receivedAt: number;
  /**
   * Number of our other requests that ended while this request was in flight; the service may have counted them after
   * it.
   */
  readonly meanwhile: number;
  /** How many requests may not have reduced `remaining`, because their responses reported another window. */
  readonly missed: number;
  /** Whether the request was refused with a 429, and so is assumed not to count against the limit. */
  readonly refused: boolean;
}

/**
 * How far a reported reset may move within one window, in milliseconds: a service that computes it from the rest of the
 * window may report it a second earlier or later each time.
 */
const resetJitter = 1000;

/**
 * Returns the window after one more response. Responses may arrive in any order, so within one window the smallest
 * `remaining` counts. Ignores a response that belongs to the previous window, unless its request was sent after the
 * last report of this window: then the service has moved the reset.
 * @param hadEnded whether the window had certainly ended when the request was sent
 */
export function observe(window: Window | undefined, seen: SeenWindow, hadEnded: boolean): Window {
  const { reset, limit, remaining, sentAt, receivedAt: toldAt, meanwhile, missed, refused } = seen;
  const first = { left: remaining, at: toldAt };
  const begun = { reset, limit, left: remaining - missed, least: remaining, toldAt, first, own: meanwhile };
  if (window === undefined || reset > window.reset + (hadEnded ? 0 : resetJitter)) return begun;
  if (reset < window.reset - resetJitter) return sentAt < window.toldAt ? window : begun;
  const latest = Math.max(reset, window.reset);
  const left = Math.min(window.left, remaining);
  // A changed limit also changes `remaining`, without any use.
  if (limit !== window.limit) return { ...begun, reset: latest, left };
  // Copied field by field, because this runs for every response, and spreading is slow.
  const [least, own] = [Math.min(window.least, remaining), window.own + (refused ? 0 : 1)];
  return { reset: latest, limit, left, least, toldAt, first: window.first, own };
}

/** Returns the window after a request whose response did not report it; the request counts as used. */
export function countDown(window: Window): Window {
  return { ...window, left: window.left - 1, own: window.own + 1 };
}

/**
 * Returns the requests per second of other users: what was used beyond our own requests.
 * @param inFlight how many of ours may already be counted although their response has not arrived
 */
export function foreignRate(window: Window, inFlight: number): number {
  const foreign = window.first.left - window.least - window.own - inFlight;
  const seconds = Math.max(1, (window.toldAt - window.first.at) / 1000);
  return Math.max(0, foreign) / seconds;
}
