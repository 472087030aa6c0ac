import { randomBytes } from 'node:crypto';
import type { Clock } from '../shared/clock.ts';
import type { Moment, Store } from '../state/state-store.ts';
import { type Answer, number, type Statement, statement, text } from '../state/statements.ts';
import type { GateFile } from './gate-file.ts';
import {
  decodeState,
  emptyState,
  encodeState,
  type KeyState,
  laterGate,
  setBack,
  withoutReported,
} from './key-state.ts';

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
