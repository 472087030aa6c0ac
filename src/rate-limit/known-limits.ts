import type { Clock } from '../shared/clock.ts';
import { statement } from '../state/statements.ts';
import type { GateFile } from './gate-file.ts';
import {
  emptyState,
  type Gate,
  gateNow,
  hasEnded,
  type KeyState,
  laterGate,
  type WindowKind,
  windowKinds,
  withoutReported,
} from './key-state.ts';
import { type LimitsStore, movedBack, newVersion, readingOf, stateOf, writingOf } from './limits-row.ts';
import { bulkReserve } from './rules.ts';

/** A key that was used, with what is known about it. */
export interface KnownKey {
  readonly scope: string;
  readonly state: KeyState;
}

/**
 * Returns what is known about every key.
 * @param store undefined if there is none; then the gates of the file are all that is known
 */
export async function knownKeys(store: LimitsStore | undefined, gates: GateFile, clock: Clock): Promise<KnownKey[]> {
  const all = statement('SELECT scope, at, state FROM limits ORDER BY scope');
  const { answers, moment } = (await store?.ask([all])) ?? { answers: [], moment: { now: clock.now() } };
  const keys = new Map<string, KeyState>();
  for (const row of answers[0] ?? []) keys.set(String(row.scope), movedBack(stateOf(row) ?? emptyState(), row, moment));
  for (const [scope, gate] of gates.gates()) {
    const state = keys.get(scope) ?? emptyState();
    const ofFile = { ...gate, at: gate.at - clock.now() + moment.now };
    keys.set(scope, { ...state, gate: laterGate(state.gate, ofFile) });
  }
  return Array.from(keys, ([scope, state]) => ({ scope, state }));
}

/** Clears what the service has reported about a key. Requests in flight stay counted. */
export async function clearLimits(store: LimitsStore | undefined, gates: GateFile, scope: string): Promise<void> {
  gates.clear(scope);
  await store?.transact(
    [readingOf(scope, '')],
    ([rows], { now }) => {
      const row = rows?.[0];
      if (row === undefined) return { writes: [], result: undefined };
      const left = withoutReported(stateOf(row) ?? emptyState());
      return { writes: [writingOf(scope, newVersion(), now, left)], result: undefined };
    },
    true,
  );
}

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
