import { hash } from 'node:crypto';
import type { ProcessIdentity } from '../shared/processes.ts';
import { type ClockOffset, earliestTime } from './clock-offset.ts';
import type { Window } from './window.ts';

/** A request that was admitted and has no answer yet. Times are by the monotonic clock. */
export interface InFlight {
  /** Its process, by `ownerOf`. */
  readonly by: string;
  readonly sentAt: number;
  /** From then on its process is taken for dead, and the request for counted. */
  readonly expires: number;
  /** The one request that may go while nothing is known. */
  readonly probe: boolean;
  /** How many of ours were over by then. */
  readonly overBefore: number;
}

/** The reason of a wait. `refused`: a 429, or a window that is spent. `unavailable`: a 502, 503 or 504 asked for it. */
export type WaitReason = 'refused' | 'unavailable';

/** Nothing may be sent before its end. */
export interface Gate {
  /** By the monotonic clock; 0 for no gate. */
  readonly at: number;
  /** The same by the wall clock, and how long it was when it came up: for after a restart of the machine. */
  readonly wall: number;
  readonly length: number;
  readonly reason: WaitReason;
}

/** No gate is believed for longer, in milliseconds: a figure that makes no sense must not close a key for years. */
export const maxGateMs = 32 * 86_400_000;

/** By how far its end is away; a limit of 1,000 may be either. */
export const windowKinds = ['minute', 'day'] as const;
export type WindowKind = (typeof windowKinds)[number];

/** All that is known of one key at one service. It is a function of the records alone, so all processes agree on it. */
export interface KeyState {
  /** The start from which monotonic times count. */
  boot: string;
  /** The wall clock less the monotonic one, at the last record that had both. */
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
    gate: { at: 0, wall: 0, length: 0, reason: 'refused' },
    episodes: 0,
    halfOpen: false,
    foreignRate: 0,
    roundTrip: 0,
  };
}

/** Returns a state that can be folded into while this one stays as it is: all that it holds is replaced, never changed. */
export function copyOf(state: KeyState): KeyState {
  return { ...state, windows: { ...state.windows }, inFlight: new Map(state.inFlight) };
}

/**
 * Returns the state as JSON, for a store. Requests that were admitted together share one object, which is written as text once; the owner is left out
 * where it is that of the request before, so that hundreds take few pages. A version that does not know that waits for the end of their leases.
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
 * Returns the state that `encodeState` has written, by this version or an older one.
 * @throws an error of any kind for anything else: whoever can write to the store can put anything there
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
    ...[offset === undefined || areNumbers(offset, 'least', 'most', 'at')],
    ...requests.map(([, request]) => areNumbers(request, 'sentAt', 'expires', 'overBefore')),
    ...Object.values(windows).map((window) => {
      const isWhole = areNumbers(window, 'reset', 'limit', 'left', 'least', 'toldAt', 'asOf', 'own');
      return isWhole && areNumbers(window.first, 'left', 'at');
    }),
  ];
  if (parts.includes(false)) throw new Error('the limits are damaged');
  return { ...state, gate: believable(state.gate) };
}

/** The farthest that a `Date` can be from 1970, in milliseconds. */
const maxTime = 8.64e15;

/** Reports whether an object has all of these numbers, and none that can't be a time. */
function areNumbers<Name extends string>(facts: Readonly<Record<Name, unknown>>, ...names: readonly Name[]): boolean {
  return names.every((name) => typeof facts[name] === 'number' && Math.abs(facts[name]) <= maxTime);
}

/** A gate cut to what is believed. */
export function believable(gate: Gate): Gate {
  const excess = gate.length - maxGateMs;
  return excess <= 0 ? gate : { ...gate, at: gate.at - excess, wall: gate.wall - excess, length: maxGateMs };
}

/** Forgets what the service said of the key. Requests in flight stay counted. */
export function forget(state: KeyState): void {
  const { boot, bootedAt, env, inFlight, over } = state;
  Object.assign(state, emptyState(), { boot, bootedAt, env, inFlight, over });
}

/** Where a boot has no name its minute stands for it, which two processes may round differently. */
export function isSameBoot(a: string, b: string): boolean {
  const minute = (boot: string) => Number(/^since (\d+)$/.exec(boot)?.[1]);
  return a === b || Math.abs(minute(a) - minute(b)) <= 2;
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

/** A process as one short text, as requests in flight name theirs. None of its parts holds a line feed. */
export function ownerOf({ host, namespace, boot, pid, startedAt }: ProcessIdentity): string {
  return [host, namespace, boot, pid, startedAt].join('\n');
}

/** @returns undefined for what `ownerOf` has not written */
export function processOf(owner: string): ProcessIdentity | undefined {
  const [host = '', namespace = '', boot = '', pid, startedAt] = owner.split('\n');
  return startedAt === undefined ? undefined : { host, namespace, boot, pid: Number(pid), startedAt };
}

/** A name for a key at a service: a hash, since the key itself is written nowhere but in the configuration. */
export function scopeOf(service: string, key: string): string {
  return hash('sha256', `${service}\n${key}`).slice(0, 32);
}
