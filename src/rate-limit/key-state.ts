import { hash } from 'node:crypto';
import type { ProcessIdentity } from '../shared/processes.ts';
import { type ClockOffset, earliestTime } from './clock-offset.ts';
import type { Window } from './window.ts';

/** A request that was admitted and has no response yet. Times are by the monotonic clock. */
export interface InFlight {
  /** The process that the request was admitted for, by `ownerOf`. */
  readonly by: string;
  /** When the request was admitted; it may be sent later. */
  readonly sentAt: number;
  /** Time after which the process is considered dead, and the request is assumed to have been counted. */
  readonly expires: number;
  readonly probe: boolean;
  /** The value of `KeyState.over` when the request was admitted. */
  readonly overBefore: number;
}

/**
 * Why a request has to wait. `unavailable`: a 502, 503 or 504 asked for the wait. `refused`: any other reason, usually
 * a 429 or an exhausted window.
 */
export type WaitReason = 'refused' | 'unavailable';

/** A time before which nothing may be sent. */
export interface Gate {
  /** When the gate lifts, by the monotonic clock; 0 if there is no gate. */
  readonly at: number;
  /** When the gate lifts by the wall clock. After a restart of the machine, this and `length` replace `at`. */
  readonly wall: number;
  /** The original length of the gate, in milliseconds. */
  readonly length: number;
  readonly reason: WaitReason;
}

/** Maximum length of a gate, in milliseconds: an implausible value must not block a key for years. */
export const maxGateMs = 32 * 86_400_000;

/** The kinds of windows. A response does not name its window; the kind is recognized by how far away the end is. */
export const windowKinds = ['minute', 'day'] as const;
export type WindowKind = (typeof windowKinds)[number];

/** Everything known about one key at one service. It depends only on the records, so all processes agree on it. */
export interface KeyState {
  /** The boot that monotonic times refer to. */
  boot: string;
  /** The wall clock minus the monotonic clock: at the last response, or at the first use of the key after a restart. */
  bootedAt: number;
  /** The environment with which the key was first used since the machine started, for display. */
  env: string;
  offset: ClockOffset | undefined;
  windows: Partial<Record<WindowKind, Window>>;
  inFlight: Map<string, InFlight>;
  /** Number of requests that were in flight and no longer are. */
  over: number;
  gate: Gate;
  /** Number of consecutive 429s; those of one burst count once. */
  episodes: number;
  /** Whether only one request at a time may be sent: after a gate, until a response does not close it again. */
  halfOpen: boolean;
  /** Requests per second of other users of this key, as far as the last windows showed. */
  foreignRate: number;
  /** Smoothed time from sending to the response, in milliseconds. */
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
    gate: { at: 0, wall: 0, length: 0, reason: 'refused' },
    episodes: 0,
    halfOpen: false,
    foreignRate: 0,
    roundTrip: 0,
  };
}

/**
 * Returns a copy that can be folded into without changing the original: `fold` modifies only the state itself, its
 * `windows` and `inFlight`, and replaces what is in them.
 */
export function copyOf(state: KeyState): KeyState {
  return { ...state, windows: { ...state.windows }, inFlight: new Map(state.inFlight) };
}

/**
 * Encodes the state as JSON. The text of requests that were admitted together is built once, because they share one
 * object. The owner is omitted if it is the same as the previous request's, so that hundreds of requests need little
 * space. A version of petstock that does not know this format waits until the permits expire.
 */
export function encodeState({ inFlight, ...rest }: KeyState): string {
  const texts = new Map<InFlight, string>();
  let owner: string | undefined;
  const requests = Array.from(inFlight, ([id, request]) => {
    const { by, probe, ...facts } = request;
    const text = texts.get(request) ?? JSON.stringify(probe ? { ...facts, probe } : facts);
    texts.set(request, text);
    const named = by === owner ? text : `{"by":${JSON.stringify(by)},${text.slice(1)}`;
    owner = by;
    return `[${JSON.stringify(id)},${named}]`;
  });
  return `${JSON.stringify(rest).slice(0, -1)},"inFlight":[${requests.join()}]}`;
}

/**
 * Decodes the result of `encodeState`, of this version or an older one.
 * @throws an error of any kind for anything else, because anyone who can write to the database can store anything there
 */
export function decodeState(json: string): KeyState {
  const {
    inFlight,
    gate,
    windows = {},
    ...rest
  } = JSON.parse(json) as Omit<KeyState, 'inFlight'> & {
    inFlight: [string, InFlight][];
  };
  let owner = '';
  const requests = inFlight.map(([id, { by = owner, probe = false, ...facts }]) => {
    owner = `${by}`;
    const request = { ...{ sentAt: 0, expires: 0, overBefore: 0 }, ...facts };
    return [`${id}`, { by: owner, probe: probe === true, ...request }] as const;
  });
  const empty = emptyState();
  const state = { ...empty, ...rest, windows, gate: { ...empty.gate, ...gate }, inFlight: new Map(requests) };
  const { boot, env, offset } = state;
  const parts = [
    ...[areNumbers(state, 'bootedAt', 'over', 'episodes', 'foreignRate', 'roundTrip')],
    ...[areNumbers(state.gate, 'at', 'wall', 'length'), typeof boot === 'string', typeof env === 'string'],
    ...[offset === undefined || areNumbers({ margin: 0, ...offset }, 'least', 'most', 'at', 'margin')],
    ...requests.map(([, request]) => areNumbers(request, 'sentAt', 'expires', 'overBefore')),
    ...Object.values(windows).map((window) => {
      const isWhole = areNumbers(window, 'reset', 'limit', 'left', 'least', 'toldAt', 'asOf', 'own');
      return isWhole && areNumbers(window.first, 'left', 'at');
    }),
  ];
  if (parts.includes(false)) throw new Error('the limits are damaged');
  return { ...state, gate: boundedGate(state.gate) };
}

/** The farthest that a `Date` can be from 1970, in milliseconds. */
const maxTime = 8.64e15;

/** Reports whether an object has all of these numbers, each in the range of a time. */
function areNumbers<Name extends string>(facts: Readonly<Record<Name, unknown>>, ...names: readonly Name[]): boolean {
  return names.every((name) => typeof facts[name] === 'number' && Math.abs(facts[name]) <= maxTime);
}

/** Returns the gate, shortened to the maximum length. */
export function boundedGate(gate: Gate): Gate {
  const excess = gate.length - maxGateMs;
  return excess <= 0 ? gate : { ...gate, at: gate.at - excess, wall: gate.wall - excess, length: maxGateMs };
}

/** Clears everything that the service has reported about the key. Requests in flight stay counted. */
export function clearReported(state: KeyState): void {
  const { boot, bootedAt, env, inFlight, over } = state;
  Object.assign(state, emptyState(), { boot, bootedAt, env, inFlight, over });
}

/**
 * Reports whether two boot ids are the same. A boot without an id is identified by the minute in which it began; two
 * processes may round that minute differently.
 */
export function isSameBoot(a: string, b: string): boolean {
  const minute = (boot: string) => Number(/^since (\d+)$/.exec(boot)?.[1]);
  return a === b || Math.abs(minute(a) - minute(b)) <= 2;
}

/** Returns the earliest that the service's time can be at a monotonic time; undefined before the first response. */
export function serviceTime({ offset }: KeyState, at: number): number | undefined {
  return offset && earliestTime(offset, at);
}

/** Reports whether a window has certainly ended; true if the service's time is not known. */
export function hasEnded(state: KeyState, window: Window, at: number): boolean {
  const now = serviceTime(state, at);
  return now === undefined || now >= window.reset;
}

/** Returns a process as one short text, stored with its requests in flight. None of the parts contains a line feed. */
export function ownerOf({ host, namespace, boot, pid, startedAt }: ProcessIdentity): string {
  return [host, namespace, boot, pid, startedAt].join('\n');
}

/** Parses a text from `ownerOf`. Undefined for text with fewer than five lines. */
export function processOf(owner: string): ProcessIdentity | undefined {
  const [host = '', namespace = '', boot = '', pid, startedAt] = owner.split('\n');
  return startedAt === undefined ? undefined : { host, namespace, boot, pid: Number(pid), startedAt };
}

/** Returns a name for a key at a service: a hash, because the state must not contain the key itself. */
export function scopeOf(service: string, key: string): string {
  return hash('sha256', `${service}\n${key}`).slice(0, 32);
}
