/** A fixed window aligned to the Unix epoch (so to UTC), and how many requests were charged to it. */
export interface Window {
  /** Milliseconds since the Unix epoch. */
  readonly start: number;
  readonly used: bigint;
}

export const DAY_MS = 86_400_000;

/** A window that no clock is in: the first look at it opens a new one. */
export const NEVER: Window = { start: -1, used: 0n };

/**
 * How far a clock may be stepped back across the start of a window without opening the previous window again.
 * Without it, two processes whose clocks differ a little would each reset the other's count at the boundary.
 */
const STEPPED_BACK_MS = 5_000;

/** The window that `now` falls into: `window` itself while it lasts, else a fresh one with nothing used. */
export function windowAt(window: Window, now: number, length: number): Window {
  const ahead = window.start - now;
  if (ahead > 0 && ahead <= STEPPED_BACK_MS) return window;
  const start = Math.floor(now / length) * length;
  return start === window.start ? window : { start, used: 0n };
}
