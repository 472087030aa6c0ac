import { hash } from 'node:crypto';
import { maxGate } from './waits.ts';

/** A request that was admitted and has no answer yet. */
export interface InFlight {
  /** When the request was admitted; it may be sent later. */
  readonly sentAt: number;
  /** When the reservation ends. The request is then assumed to have been counted. */
  readonly expires: number;
  /** Whether others wait for the answer of this request. */
  readonly probe: boolean;
  /** The value of `KeyState.over` when the request was admitted. */
  readonly overBefore: number;
}

/**
 * Why a request has to wait. `unavailable`: a 5xx asked for the wait. `refused`: a 429, or an exhausted window.
 * `pending`: requests of other commands that have no response yet may be charged to the limit.
 */
export type WaitReason = Gate['reason'] | 'pending';

/** A time before which nothing may be sent. */
export interface Gate {
  /** When the gate lifts; 0 if there is none. */
  readonly at: number;
  /** The length of the gate when it was closed, in milliseconds. */
  readonly length: number;
  readonly reason: 'refused' | 'unavailable';
}

export const noGate: Gate = { at: 0, length: 0, reason: 'refused' };

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

/** The kinds of windows. An answer does not name its window; the kind is recognized by how far away the end is. */
export const windowKinds = ['minute', 'day'] as const;
export type WindowKind = (typeof windowKinds)[number];

/**
 * Everything known about one key at one service. It depends only on the records, so all processes agree on it. All
 * times but `Window.reset` are by the clock of the state, in milliseconds since the Unix epoch.
 */
export interface KeyState {
  /** The name of the target that used the key last, for display. */
  target: string;
  /**
   * How many milliseconds the service's clock is at least ahead, and when that was found; undefined while no answer had
   * a `Date`.
   */
  offset: { readonly least: number; readonly at: number } | undefined;
  windows: Partial<Record<WindowKind, Window>>;
  inFlight: Map<string, InFlight>;
  /** Number of requests that were in flight and no longer are. */
  over: number;
  gate: Gate;
  /** Number of consecutive 429s; those of one burst count once. */
  episodes: number;
  /** Number of consecutive 429s to writes, whatever was read between them. */
  refusedWrites: number;
  /** Whether only one request at a time may be sent: after a gate, until an answer does not close it again. */
  halfOpen: boolean;
  /** Requests per second of other users of this key, as far as the last windows showed. */
  foreignRate: number;
  /** Smoothed time from sending to the answer, in milliseconds. */
  roundTrip: number;
}

export function emptyState(): KeyState {
  return {
    ...{ target: '', offset: undefined, windows: {}, inFlight: new Map(), over: 0, gate: noGate },
    ...{ episodes: 0, refusedWrites: 0, halfOpen: false, foreignRate: 0, roundTrip: 0 },
  };
}

/**
 * Returns a copy that can be folded into without changing the original: `fold` modifies only the state itself, its
 * `windows` and `inFlight`, and replaces what is in them.
 */
export function copyOf(state: KeyState): KeyState {
  return { ...state, windows: { ...state.windows }, inFlight: new Map(state.inFlight) };
}

/** Returns the gate, shortened to the maximum length. */
export function boundedGate(gate: Gate): Gate {
  const excess = gate.length - maxGate;
  return excess <= 0 ? gate : { ...gate, at: gate.at - excess, length: maxGate };
}

/** Returns the gate as it holds now: if the clock was set back meanwhile, it is never later than its length from now. */
export function gateNow(gate: Gate, now: number): Gate {
  return gate.at <= now + gate.length ? gate : { ...gate, at: now + gate.length };
}

export function laterGate(one: Gate, other: Gate): Gate {
  return other.at > one.at ? other : one;
}

/** Returns what is left when everything that the service has reported is forgotten: the requests in flight. */
export function withoutReported({ target, inFlight, over }: KeyState): KeyState {
  return { ...emptyState(), target, inFlight, over };
}

/** How far two clocks may drift apart, in milliseconds per millisecond: twice the drift of computer crystals. */
const drift = 0.0002;

/** Returns the earliest that the service's time can be; the state's time before the first `Date`. */
export function serviceTime({ offset }: Pick<KeyState, 'offset'>, at: number): number {
  return offset === undefined ? at : at + offset.least - Math.max(0, at - offset.at) * drift;
}

/** Returns the first time of the state's clock at which the service's clock has certainly reached `time`. */
export function whenReached({ offset }: Pick<KeyState, 'offset'>, time: number): number {
  if (offset === undefined) return time;
  const at = time - offset.least;
  return at + (Math.max(0, at - offset.at) * drift) / (1 - drift);
}

/** Reports whether a window has certainly ended. */
export function hasEnded(state: Pick<KeyState, 'offset'>, window: Window, at: number): boolean {
  return serviceTime(state, at) >= window.reset;
}

/** Returns a name for a key at a service: a hash, because the state must not contain the key itself. */
export function scopeOf(service: string, key: string): string {
  return hash('sha256', `${service}\n${key}`).slice(0, 32);
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
