import type { Clock } from '../shared/clock.ts';
import { hasEnded, isSameBoot, type KeyState, type WaitReason, type WindowKind, windowKinds } from './key-state.ts';
import type { KnownKey } from './limits-store.ts';
import { bulkReserve } from './rules.ts';
import type { Window } from './window.ts';

/** One window of one key, as the service last reported it. Times are milliseconds since the Unix epoch. */
export interface KnownLimit {
  /** Names the service and the key, by `scopeOf`. */
  readonly scope: string;
  readonly env: string;
  readonly kind: WindowKind;
  readonly limit: number;
  /** Requests left, less those sent since. */
  readonly remaining: number;
  /** By the service's clock. */
  readonly resetAt: number;
  /** By the local clock. */
  readonly asOf: number;
}

/** The last known limits of each key, by environment, the newest first. Some windows may be over. */
export function knownLimits(keys: readonly KnownKey[]): KnownLimit[] {
  return limitsOf(keys, () => true);
}

/** The same without windows that have ended. Where the machine has restarted since, that goes by the wall clock. */
export function currentLimits(keys: readonly KnownKey[], clock: Clock): KnownLimit[] {
  const [at, wall, boot] = [clock.monotonic(), clock.now(), clock.boot()];
  return limitsOf(keys, (state, window) =>
    isSameBoot(state.boot, boot) ? !hasEnded(state, window, at) : wall < window.reset,
  );
}

function limitsOf(keys: readonly KnownKey[], counts: (state: KeyState, window: Window) => boolean): KnownLimit[] {
  const limits = keys.flatMap(({ scope, state }) =>
    windowKinds.flatMap((kind) => {
      const window = state.windows[kind];
      if (window === undefined || !counts(state, window)) return [];
      const { limit, left, reset, asOf } = window;
      return [{ scope, env: state.env, kind, limit, remaining: Math.max(0, left), resetAt: reset, asOf }];
    }),
  );
  return limits.sort((a, b) => a.env.localeCompare(b.env) || b.asOf - a.asOf);
}

/** A time before which nothing is sent with a key. */
export interface KnownGate {
  readonly scope: string;
  readonly env: string;
  /** By the local clock: milliseconds since the Unix epoch. */
  readonly until: number;
  readonly reason: WaitReason;
}

/** The gates that hold now: by the monotonic clock, as for requests, since the wall clock may have been stepped. */
export function currentGates(keys: readonly KnownKey[], clock: Clock): KnownGate[] {
  const [at, wall, boot] = [clock.monotonic(), clock.now(), clock.boot()];
  const gates = keys.map(({ scope, state: { env, gate, boot: known } }) => {
    return { scope, env, until: isSameBoot(known, boot) ? wall + gate.at - at : gate.wall, reason: gate.reason };
  });
  return gates.filter(({ until }) => until > wall);
}

/** The facts about a window that an estimate needs. `resetAt`: milliseconds since the Unix epoch. */
export type LimitSummary = Pick<KnownLimit, 'kind' | 'limit' | 'remaining' | 'resetAt'>;

/** How long the limits alone make a bulk run take. The time of the requests themselves comes on top. */
export interface Estimate {
  /** Seconds until the last request may leave; 0: at once; infinite if a limit admits none. */
  readonly seconds: number;
  /** The limit of the small window, if it is known. */
  readonly perMinute: number | undefined;
  /** The quota of the day, if it is known. */
  readonly day: DayQuota | undefined;
}

export interface DayQuota {
  /** Requests that are left of it. */
  readonly left: number;
  /** How many of these a bulk run leaves to people. */
  readonly kept: number;
  /** How many requests of the run it is not enough for. */
  readonly waiting: number;
  /** When the next one begins: milliseconds since the Unix epoch. */
  readonly resetAt: number;
}

const lengths = { minute: 60_000, day: 86_400_000 } as const;

/**
 * Walks through the windows as a bulk run on a key without other users would: in each window everything that it admits
 * leaves at its beginning, and the rest waits for the end of the window that is spent.
 *
 * @param requests that are still to be sent
 * @param limits of one key; at most one of each kind
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
  return { seconds: (lastLeaves(requests, windows, now) - now) / 1000, perMinute: minute?.limit, day: quota };
}

/** @returns milliseconds since the Unix epoch; infinite if a limit admits nothing at all */
function lastLeaves(requests: number, limits: readonly LimitSummary[], now: number): number {
  if (requests > 0 && limits.some(({ limit }) => bulkReserve(limit) >= limit)) return Number.POSITIVE_INFINITY;
  let [at, left, windows] = [now, requests, limits];
  for (;;) {
    const sent = Math.min(left, ...windows.map(free));
    left -= sent;
    if (left <= 0) return at;
    const spent = windows.filter((window) => free(window) === sent);
    // Every window that is spent has ended by then, so that each round sends something.
    const end = Math.max(...spent.map(({ resetAt }) => resetAt));
    windows = windows.map((window) => rolled({ ...window, remaining: window.remaining - sent }, end));
    at = end;
  }
}

/** Returns how many requests of a bulk run may still leave in a window. */
function free({ limit, remaining }: LimitSummary): number {
  return Math.max(0, remaining - bulkReserve(limit));
}

/** Returns the window at a time: each begins where the one before ends, with all of its requests left. */
function rolled(window: LimitSummary, at: number): LimitSummary {
  const { kind, limit, resetAt } = window;
  if (at < resetAt) return window;
  const length = lengths[kind];
  return { kind, limit, remaining: limit, resetAt: resetAt + (Math.floor((at - resetAt) / length) + 1) * length };
}
