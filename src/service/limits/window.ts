/** A fixed window aligned to the Unix epoch (so to UTC), and how many requests were charged to it. */
export interface Window {
  /** Milliseconds since the Unix epoch. */
  readonly start: number;
  /** Milliseconds. */
  readonly length: number;
  readonly used: bigint;
}

export const DAY_MS = 86_400_000;

/** A window that no clock is in: the first look at it opens a new one. */
export const NEVER: Window = { start: -1, length: 0, used: 0n };

/**
 * How far a clock may be stepped back across the start of a window without opening the previous window again.
 * Without it, two processes whose clocks differ a little would each reset the other's count at the boundary.
 */
const STEPPED_BACK_MS = 5_000;

/**
 * The window that `now` falls into: `window` itself while it lasts, else a fresh one with nothing used.
 * It lasts as it was opened, even if `length` is another by now: then processes that were started with different
 * lengths share each window instead of resetting each other's count.
 */
export function windowAt(window: Window, now: number, length: number): Window {
  const isStepped = now < window.start && now >= window.start - STEPPED_BACK_MS;
  if (isStepped || (now >= window.start && now < endOf(window))) return window;
  return { start: Math.floor(now / length) * length, length, used: 0n };
}

/** Milliseconds since the Unix epoch. */
export function endOf(window: Window): number {
  return window.start + window.length;
}
