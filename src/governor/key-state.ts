import type { ClockOffset } from './clock-offset.ts';
import type { Window } from './window.ts';

/** A request that was admitted and of which nothing has been heard. Times are by the monotonic clock. */
export interface InFlight {
  readonly sentAt: number;
  /** From then on its process is taken for dead, and the request for counted. */
  readonly expires: number;
  /** The one request that may go while nothing is known. */
  readonly probe: boolean;
}

/** By how far its end is away; a limit of 1,000 may be either. */
export const windowKinds = ['minute', 'day'] as const;
export type WindowKind = (typeof windowKinds)[number];

/** All that is known of one key at one service. It is a function of the ledger alone, so all processes agree on it. */
export interface KeyState {
  /** What the monotonic times count from. */
  boot: string;
  /** The environment under which the key was last used, for people. */
  env: string;
  offset: ClockOffset | undefined;
  windows: Partial<Record<WindowKind, Window>>;
  inFlight: Map<string, InFlight>;
  /** Nothing may be sent before: by the monotonic clock, and by the wall clock for after a restart. 0 for no gate. */
  gate: number;
  gateWall: number;
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
    env: '',
    offset: undefined,
    windows: {},
    inFlight: new Map(),
    gate: 0,
    gateWall: 0,
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

/** The service's time at a moment of the monotonic clock, or earlier, but never later. */
export function serviceTime({ offset }: KeyState, at: number): number | undefined {
  return offset === undefined ? undefined : at + offset.least;
}

/** Whether a window has ended for sure. */
export function hasEnded(state: KeyState, window: Window, at: number): boolean {
  const now = serviceTime(state, at);
  return now === undefined || now >= window.reset;
}
