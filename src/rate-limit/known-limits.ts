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

/** The gates that answers have closed. Some may be over. */
export function knownGates(keys: readonly KnownKey[]): KnownGate[] {
  return keys.map(({ scope, state: { env, gate } }) => ({ scope, env, until: gate.wall, reason: gate.reason }));
}

/** The facts about a window that an estimate needs. `resetAt`: milliseconds since the Unix epoch. */
export type LimitFacts = Pick<KnownLimit, 'kind' | 'limit' | 'remaining' | 'resetAt'>;

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
export function estimate(requests: number, limits: readonly LimitFacts[], now: number): Estimate {
  const windows = limits.map((limit) => new FixedWindow(limit, now));
  const day = windows.find(({ kind }) => kind === 'day');
  const minute = windows.find(({ kind }) => kind === 'minute');
  const quota = day && {
    left: day.left,
    kept: Math.min(day.left, bulkReserve(day.limit)),
    waiting: Math.max(0, requests - day.free),
    resetAt: day.end,
  };
  return { seconds: (lastLeaves(requests, windows, now) - now) / 1000, perMinute: minute?.limit, day: quota };
}

/** @returns milliseconds since the Unix epoch; infinite if a limit admits nothing at all */
function lastLeaves(requests: number, windows: readonly FixedWindow[], now: number): number {
  if (requests > 0 && windows.some(({ admits }) => admits < 1)) return Number.POSITIVE_INFINITY;
  let at = now;
  let left = requests;
  for (;;) {
    const sent = Math.min(left, ...windows.map(({ free }) => free));
    left -= sent;
    for (const window of windows) window.take(sent);
    if (left <= 0) return at;
    // Every window that is spent has ended by then, so that each round sends something.
    at = Math.max(...windows.filter(({ free }) => free === 0).map(({ end }) => end));
    for (const window of windows) window.roll(at);
  }
}

/** One limit, window after window: each begins where the one before ends, with all of its requests left. */
class FixedWindow {
  readonly kind: LimitFacts['kind'];
  readonly limit: number;
  /** How many requests a new window admits. */
  readonly admits: number;
  left: number;
  /** Milliseconds since the Unix epoch. */
  end: number;

  constructor({ kind, limit, remaining, resetAt }: LimitFacts, now: number) {
    this.kind = kind;
    this.limit = limit;
    this.admits = limit - bulkReserve(limit);
    this.left = remaining;
    this.end = resetAt;
    this.roll(now);
  }

  /** How many requests may still leave in it. */
  get free(): number {
    return Math.max(0, this.left - (this.limit - this.admits));
  }

  take(requests: number): void {
    this.left -= requests;
  }

  roll(now: number): void {
    if (now < this.end) return;
    const length = lengths[this.kind];
    this.end += (Math.floor((now - this.end) / length) + 1) * length;
    this.left = this.limit;
  }
}
