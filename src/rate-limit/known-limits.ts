import { type Gate, gateNow, hasEnded, type KeyState, type WindowKind, windowKinds } from './key-state.ts';
import { bulkReserve } from './rules.ts';

/** One window of a key, as last reported by the service. Times are milliseconds since the Unix epoch. */
export interface KnownLimit {
  readonly kind: WindowKind;
  readonly limit: number;
  /** Number of requests left: as reported, minus the requests that have ended since without a new report. */
  readonly remaining: number;
  /** When the window ends, by the service's clock. */
  readonly resetAt: number;
  /** When the service reported the window, by the clock of the state. */
  readonly asOf: number;
  /** Whether the window has ended, so that how much is left of the next one is not known. */
  readonly isOver: boolean;
}

/** Returns the last known limits of a key, newest first. `now`: by the clock of the state */
export function knownLimits(state: KeyState, now: number): KnownLimit[] {
  const limits = windowKinds.flatMap((kind) => {
    const window = state.windows[kind];
    if (window === undefined) return [];
    const { limit, left, reset: resetAt, toldAt: asOf } = window;
    return [{ kind, limit, remaining: Math.max(0, left), resetAt, asOf, isOver: hasEnded(state, window, now) }];
  });
  return limits.sort((a, b) => b.asOf - a.asOf);
}

/** A time before which nothing is sent with a key. */
export interface KnownGate {
  /** When the gate lifts, in milliseconds since the Unix epoch by the clock of the state. */
  readonly until: number;
  readonly reason: Gate['reason'];
}

/** Returns the gate of a key, if it holds now. */
export function currentGate({ gate }: KeyState, now: number): KnownGate | undefined {
  const { at: until, reason } = gateNow(gate, now);
  return until > now ? { until, reason } : undefined;
}

/** The properties of a window that an estimate needs. `resetAt`: milliseconds since the Unix epoch. */
export type LimitSummary = Pick<KnownLimit, 'kind' | 'limit' | 'remaining' | 'resetAt'>;

/** How long a bulk run takes because of the limits, without the time that the requests themselves take. */
export interface Estimate {
  /** Seconds until the last request may be sent: 0 if all may be sent at once, infinite if a limit allows none. */
  readonly seconds: number;
  readonly perMinute: number | undefined;
  readonly day: DayQuota | undefined;
}

export interface DayQuota {
  /** Number of requests left today. */
  readonly left: number;
  /** How many of these a bulk run reserves for interactive commands. */
  readonly kept: number;
  /** How many requests of the run have to wait for the next day's quota. */
  readonly waiting: number;
  /** When the next day's quota begins, in milliseconds since the Unix epoch. */
  readonly resetAt: number;
}

const lengths = { minute: 60_000, day: 86_400_000 } as const;

/**
 * Simulates a bulk run on a key without other users: in each window all admitted requests are sent at its start, and
 * the rest wait for the exhausted window to end.
 * @param requests the number of requests still to be sent
 * @param limits the limits of one key; at most one of each kind
 * @param now milliseconds since the Unix epoch
 */
export function estimate(requests: number, limits: readonly LimitSummary[], now: number): Estimate {
  const windows = limits.map((limit) => rolled(limit, now));
  const day = windows.find(({ kind }) => kind === 'day');
  const minute = windows.find(({ kind }) => kind === 'minute');
  const quota = day && {
    left: day.remaining,
    kept: Math.min(day.remaining, bulkReserve(day.limit)),
    waiting: Math.max(0, requests - free(day)),
    resetAt: day.resetAt,
  };
  return { seconds: (lastSendTime(requests, windows, now) - now) / 1000, perMinute: minute?.limit, day: quota };
}

/**
 * Returns when the last request may be sent, in milliseconds since the Unix epoch; infinite if a limit admits nothing.
 */
function lastSendTime(requests: number, limits: readonly LimitSummary[], now: number): number {
  if (requests > 0 && limits.some(({ limit }) => bulkReserve(limit) >= limit)) return Number.POSITIVE_INFINITY;
  let [at, left, windows] = [now, requests, limits];
  for (;;) {
    const sent = Math.min(left, ...windows.map(free));
    left -= sent;
    if (left <= 0) return at;
    const spent = windows.filter((window) => free(window) === sent);
    // All exhausted windows have ended by then, so the next iteration sends something.
    const end = Math.max(...spent.map(({ resetAt }) => resetAt));
    windows = windows.map((window) => rolled({ ...window, remaining: window.remaining - sent }, end));
    at = end;
  }
}

/** Returns how many requests of a bulk run may still be sent in a window. */
function free({ limit, remaining }: LimitSummary): number {
  return Math.max(0, remaining - bulkReserve(limit));
}

/**
 * Returns the window that contains a time. Each window starts at the end of the previous one, with all requests left.
 */
function rolled(window: LimitSummary, at: number): LimitSummary {
  const { kind, limit, resetAt } = window;
  if (at < resetAt) return window;
  const length = lengths[kind];
  return { kind, limit, remaining: limit, resetAt: resetAt + (Math.floor((at - resetAt) / length) + 1) * length };
}
