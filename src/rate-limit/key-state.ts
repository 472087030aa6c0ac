import { type ClockOffset, earliestTime } from './clock-offset.ts';
import type { Window } from './window.ts';

/** A request that was admitted and of which nothing has been heard. Times are by the monotonic clock. */
export interface InFlight {
  readonly sentAt: number;
  /** From then on its process is taken for dead, and the request for counted. */
  readonly expires: number;
  /** The one request that may go while nothing is known. */
  readonly probe: boolean;
  /** How many of ours were over by then. */
  readonly overBefore: number;
}

/** Nothing may be sent before its end. */
export interface Gate {
  /** By the monotonic clock; 0 for no gate. */
  readonly at: number;
  /** The same by the wall clock, and how long it was when it came up: for after a restart of the machine. */
  readonly wall: number;
  readonly length: number;
}

/** By how far its end is away; a limit of 1,000 may be either. */
export const windowKinds = ['minute', 'day'] as const;
export type WindowKind = (typeof windowKinds)[number];

/** All that is known of one key at one service. It is a function of the ledger alone, so all processes agree on it. */
export interface KeyState {
  /** What the monotonic times count from. */
  boot: string;
  /** The wall clock less the monotonic one, at the last record that told both. */
  bootedAt: number;
  /** The environment under which the key was used first since the machine started, for people. */
  env: string;
  offset: ClockOffset | undefined;
  windows: Partial<Record<WindowKind, Window>>;
  inFlight: Map<string, InFlight>;
  /** How many of ours have been in flight and are not any more. */
  over: number;
  gate: Gate;
  /** 429s in a row, those of one burst counted once. */
  episodes: number;
  /** After a gate: one request at a time until one is answered without a 429. */
  halfOpen: boolean;
  /** Requests per second of others on this key, as far as the last windows showed. */
  foreignRate: number;
  /** Milliseconds from sending to answer, smoothed. */
  roundTrip: number;
}

export function emptyState(): KeyState {
  return {
    boot: '',
    bootedAt: 0,
    env: '',
    offset: undefined,
    windows: {},
    inFlight: new Map(),
    over: 0,
    gate: { at: 0, wall: 0, length: 0 },
    episodes: 0,
    halfOpen: false,
    foreignRate: 0,
    roundTrip: 0,
  };
}

/** The state as plain JSON, for a summary of a ledger. */
export function encodeState(state: KeyState): object {
  return { ...state, inFlight: [...state.inFlight] };
}

/** The state of a summary. What wrote it has put a checksum on it, so it is taken as it is. */
export function decodeState(json: object): KeyState {
  const { inFlight, ...rest } = json as Omit<KeyState, 'inFlight'> & { inFlight: [string, InFlight][] };
  return { ...emptyState(), ...rest, inFlight: new Map(inFlight) };
}

/** What two know together who have lost sight of each other: of everything the more careful. */
export function join(a: KeyState, b: KeyState): KeyState {
  if (a.boot === '') return b;
  if (!isSameBoot(a.boot, b.boot)) return a;
  const windows = { ...b.windows, ...a.windows };
  for (const kind of windowKinds) {
    const [one, other] = [a.windows[kind], b.windows[kind]];
    if (one && other) windows[kind] = stricter(one, other);
  }
  return {
    ...a,
    offset: a.offset ?? b.offset,
    windows,
    inFlight: new Map([...b.inFlight, ...a.inFlight]),
    gate: a.gate.at >= b.gate.at ? a.gate : b.gate,
    episodes: Math.max(a.episodes, b.episodes),
    halfOpen: a.halfOpen || b.halfOpen,
    foreignRate: Math.max(a.foreignRate, b.foreignRate),
    roundTrip: Math.max(a.roundTrip, b.roundTrip),
  };
}

/** Where a boot has no name it is told by its minute, which two processes may round differently. */
export function isSameBoot(a: string, b: string): boolean {
  const minute = (boot: string) => Number(/^since (\d+)$/.exec(boot)?.[1]);
  return a === b || Math.abs(minute(a) - minute(b)) <= 2;
}

function stricter(a: Window, b: Window): Window {
  if (a.reset !== b.reset) return a.reset > b.reset ? a : b;
  return a.left <= b.left ? a : b;
}

/** The service's time at a moment of the monotonic clock, or earlier, but never later. */
export function serviceTime({ offset }: KeyState, at: number): number | undefined {
  return offset && earliestTime(offset, at);
}

/** Whether a window has ended for sure. */
export function hasEnded(state: KeyState, window: Window, at: number): boolean {
  const now = serviceTime(state, at);
  return now === undefined || now >= window.reset;
}
