import { randomBytes } from 'node:crypto';
import type { Clock } from '../shared/clock.ts';
import type { Moment, Store } from '../state/state-store.ts';
import { type Answer, number, type Statement, statement, text } from '../state/statements.ts';
import { boundedGate, emptyState, type InFlight, type KeyState, type Window } from './key-state.ts';

/** Where the row of a key is: the state, or this process alone. */
export type LimitsStore = Pick<Store, 'ask' | 'transact' | 'isFreshFor'>;

/** What is known of a key, and the name of the change that wrote it; '' if the key has no row. */
export interface LimitsRow {
  readonly version: string;
  readonly state: KeyState;
}

/** A clock that is behind the last change of the row by more than this was set back, in milliseconds. */
const setBackBy = 1000;

const upsert = `INSERT INTO limits (scope, version, at, state) VALUES (?, ?, ?, ?) ON CONFLICT (scope) DO UPDATE
  SET version = excluded.version, at = excluded.at, state = excluded.state`;

/** Returns the statement that asks for the row of a key, without its state if that has this version. */
export function readingOf(scope: string, version: string): Statement {
  const select =
    'SELECT version, at, CASE version WHEN ? THEN NULL ELSE state END AS state FROM limits WHERE scope = ?';
  return statement(select, version, scope);
}

export function writingOf(scope: string, version: string, at: number, state: KeyState): Statement {
  return statement(upsert, scope, version, at, encodeState(state));
}

/** Returns a new, unique name: a change of a row may be rolled back, so its changes can't be counted. */
export function newVersion(): string {
  return randomBytes(9).toString('base64url');
}

export function versionOf(row: Answer | undefined): string {
  return text(row?.version) ?? '';
}

/**
 * Returns the state in a row; undefined if it was left out because it is known. A key without a row, and limits that no
 * version of petstock has written, count as unknown.
 */
export function stateOf(row: Answer | undefined): KeyState | undefined {
  const json = text(row?.state);
  if (json === undefined) return row === undefined ? emptyState() : undefined;
  try {
    return decodeState(json);
  } catch {
    return emptyState();
  }
}

/** Returns the state by the clock of now, which may have been set back since the row was written. */
export function movedBack(state: KeyState, row: Answer | undefined, { now }: Pick<Moment, 'now'>): KeyState {
  const behind = (number(row?.at) ?? 0) - now;
  return behind > setBackBy ? setBack(state, behind) : state;
}

/** Encodes the state as JSON. Requests that were admitted together are written once, with their ids. */
export function encodeState({ inFlight, ...rest }: KeyState): string {
  const groups: [InFlight, string[]][] = [];
  for (const [id, request] of inFlight) {
    const last = groups.at(-1);
    if (last?.[0] === request) last[1].push(id);
    else groups.push([request, [id]]);
  }
  return JSON.stringify({ ...rest, inFlight: groups });
}

/** Decodes the result of `encodeState`. @throws an error of any kind for anything else */
export function decodeState(json: string): KeyState {
  const { inFlight, ...rest } = JSON.parse(json) as Omit<KeyState, 'inFlight'> & { inFlight: [InFlight, string[]][] };
  const requests = inFlight.flatMap(([request, ids]) => ids.map((id) => [id, request] as const));
  const state = { ...emptyState(), ...rest, inFlight: new Map(requests) };
  if (![state.gate.at, state.gate.length, state.episodes].every(Number.isFinite)) throw new Error('no state of a key');
  return { ...state, gate: boundedGate(state.gate) };
}

/**
 * Returns the state by a clock that was set back since: as if no time had passed meanwhile.
 * @param ms by how much the clock was set back, at least
 */
export function setBack(state: KeyState, ms: number): KeyState {
  const { offset, windows, inFlight, gate } = state;
  const moved = new Map<InFlight, InFlight>();
  for (const request of inFlight.values()) {
    moved.set(request, { ...request, sentAt: request.sentAt - ms, expires: request.expires - ms });
  }
  const earlier = ({ first, ...window }: Window): Window => ({
    ...{ ...window, toldAt: window.toldAt - ms, first: { ...first, at: first.at - ms } },
  });
  return {
    ...state,
    offset: offset && { least: offset.least + ms, at: offset.at - ms },
    windows: Object.fromEntries(Object.entries(windows).map(([kind, window]) => [kind, earlier(window)])),
    inFlight: new Map(Array.from(inFlight, ([id, request]) => [id, moved.get(request) ?? request])),
    gate: { ...gate, at: gate.at - ms },
  };
}

/** Returns a store for one row that ends with the process, for reads while the state is away. */
export function limitsInMemory(clock: Clock): LimitsStore {
  let row: Answer | undefined;
  const read = () => ({
    answers: [row === undefined ? [] : [row]],
    moment: { now: clock.now(), at: clock.monotonic() },
  });
  return {
    isFreshFor: 0,
    ask: async () => read(),
    transact: async (_questions, decide) => {
      const { answers, moment } = read();
      const { writes, result } = decide(answers, moment);
      for (const { values } of writes) {
        const [, version = null, at = null, state = null] = values;
        row = { version, at, state };
      }
      return result;
    },
  };
}
