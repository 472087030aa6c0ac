import type { Clock } from '../shared/clock.ts';
import { hasEnded, isSameBoot, type WaitReason, type WindowKind, windowKinds } from './key-state.ts';
import type { KnownKey } from './limits-store.ts';

/** What a service last said of one window of one key. Times are milliseconds since the Unix epoch. */
export interface KnownLimit {
  /** Names the service and the key, by `scopeOf`. */
  readonly scope: string;
  readonly env: string;
  readonly kind: WindowKind;
  readonly limit: number;
  /** What was left, less what was sent since. */
  readonly remaining: number;
  /** By the service's clock. */
  readonly resetAt: number;
  /** By the local clock. */
  readonly asOf: number;
}

/** The last known limits of each key, by environment, the newest first. Some windows may be over. */
export function knownLimits(keys: readonly KnownKey[]): KnownLimit[] {
  return keys.flatMap(limitsOf).sort((a, b) => a.env.localeCompare(b.env) || b.asOf - a.asOf);
}

function limitsOf({ scope, state: { env, windows } }: KnownKey): KnownLimit[] {
  return windowKinds.flatMap((kind) => {
    const window = windows[kind];
    if (window === undefined) return [];
    const { limit, left, reset, asOf } = window;
    return [{ scope, env, kind, limit, remaining: Math.max(0, left), resetAt: reset, asOf }];
  });
}

/** The same without windows that have ended. Where the machine has restarted since, that goes by the wall clock. */
export function currentLimits(keys: readonly KnownKey[], clock: Clock): KnownLimit[] {
  return knownLimits(keys.map((key) => withoutEnded(key, clock)));
}

function withoutEnded({ scope, state }: KnownKey, clock: Clock): KnownKey {
  const isComparable = isSameBoot(state.boot, clock.boot());
  const windows = { ...state.windows };
  for (const kind of windowKinds) {
    const window = windows[kind];
    if (window === undefined) continue;
    if (isComparable ? hasEnded(state, window, clock.monotonic()) : clock.now() >= window.reset) delete windows[kind];
  }
  return { scope, state: { ...state, windows } };
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
