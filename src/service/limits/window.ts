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
 * Returns the window that `now` falls into: `window` itself until it ends, else a new one with nothing used. However far a clock is
 * stepped back, no window before `window` opens: its requests would be admitted a second time.
 * It lasts as it was opened, even if `length` is another by now: then processes that were started with different
 * lengths share each window instead of resetting each other's count.
 */
export function windowAt(window: Window, now: number, length: number): Window {
  if (now < endOf(window)) return window;
  return { start: Math.floor(now / length) * length, length, used: 0n };
}

/** Milliseconds since the Unix epoch. */
export function endOf(window: Window): number {
  return window.start + window.length;
}
