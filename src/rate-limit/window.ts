/** One fixed window of a limit, as its answers described it. */
export interface Window {
  /** When it ends, by the service's clock: milliseconds since the Unix epoch. */
  readonly reset: number;
  readonly limit: number;
  /** The smallest remaining that came, less what was sent since and is in none. */
  readonly left: number;
  /** The smallest remaining that came. */
  readonly least: number;
  /** When the last of them came: by the monotonic clock, and by the wall clock for people. */
  readonly toldAt: number;
  readonly asOf: number;
  /** Its first reading by us: the first remaining that came, and when. Its difference to `least` is ours or foreign. */
  readonly first: { readonly left: number; readonly at: number };
  /** How many of our requests may have been counted since `first`, those in flight apart. */
  readonly own: number;
}

/** A window as an answer reports it. */
export interface SeenWindow {
  readonly reset: number;
  readonly limit: number;
  readonly remaining: number;
  /** By the monotonic clock. */
  readonly sentAt: number;
  readonly receivedAt: number;
  /** By the wall clock: milliseconds since the Unix epoch. */
  readonly asOf: number;
  /** How many others of ours came to their ends while it was on its way: they may have been counted after it. */
  readonly meanwhile: number;
  /** How many of these may be missing in `remaining` and were answered with another window, so that no answer tells. */
  readonly missed: number;
  /** Whether it was refused, and so has taken nothing. */
  readonly refused: boolean;
  /** Two resets that differ by at most so many milliseconds are of one window. */
  readonly tolerance: number;
}

/** A service that works a reset out from what is left of the window may tell it a second earlier or later each time. */
export const resetJitter = 1000;

/**
 * The window after one more answer. Answers may come in any order, so within one window the smallest remaining counts.
 * Ignore a response that belongs to the previous window, unless its request was sent after this window was known: then
 * the service has moved the reset.
 *
 * @param hadEnded whether the window had surely ended when the request was sent
 */
export function observe(window: Window | undefined, seen: SeenWindow, hadEnded: boolean): Window {
  const { reset, limit, remaining, sentAt, receivedAt: toldAt, asOf, meanwhile, missed, refused, tolerance } = seen;
  const first = { left: remaining, at: toldAt };
  const begun = { reset, limit, left: remaining - missed, least: remaining, toldAt, asOf, first, own: meanwhile };
  if (window === undefined || reset > window.reset + (hadEnded ? 0 : tolerance)) return begun;
  if (reset < window.reset - tolerance) return sentAt < window.toldAt ? window : begun;
  const latest = Math.max(reset, window.reset);
  const left = Math.min(window.left, remaining);
  // A limit that is changed takes some away that were not used.
  if (limit !== window.limit) return { ...begun, reset: latest, left };
  // Spelled out: of a thousand answers, copies of objects were most of the cost.
  const [least, own] = [Math.min(window.least, remaining), window.own + (refused ? 0 : 1)];
  return { reset: latest, limit, left, least, toldAt, asOf, first: window.first, own };
}

/** One request that was sent, and whose answer did not show this window. It is taken for counted. */
export function countDown(window: Window): Window {
  return { ...window, left: window.left - 1, own: window.own + 1 };
}

/**
 * Requests per second that are not ours: what has left the window beyond what we sent.
 *
 * @param inFlight ours that may be counted already, though their answers are not here
 */
export function foreignRate(window: Window, inFlight: number): number {
  const foreign = window.first.left - window.least - window.own - inFlight;
  const seconds = Math.max(1, (window.toldAt - window.first.at) / 1000);
  return Math.max(0, foreign) / seconds;
}
