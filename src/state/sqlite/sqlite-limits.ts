import { fold } from '../../rate-limit/fold.ts';
import { decodeState, emptyState, encodeState, forget, type KeyState } from '../../rate-limit/key-state.ts';
import type { KnownKey, LimitsStore } from '../../rate-limit/limits-store.ts';
import { asksToWait } from '../../rate-limit/observation.ts';
import type { LimitRecord } from '../../rate-limit/records.ts';
import type { Connection } from './connection.ts';
import { type Patience, patiently } from './patiently.ts';

interface Known {
  readonly version: number;
  readonly state: KeyState;
}

/** A version stands beside each state, so that one that has not changed need not be read again. */
export class SqliteLimits implements LimitsStore {
  readonly #patience: Patience;
  readonly #connection: Connection;
  readonly #known = new Map<string, Known>();

  constructor(connection: Connection, patience: Patience) {
    this.#connection = connection;
    this.#patience = patience;
  }

  async fold(scope: string, records: readonly LimitRecord[]): Promise<KeyState> {
    // A gate outlasts a power cut: nothing leaves within a Retry-After that was seen. The rest need not.
    const hasGate = records.some((record) => record.type === 'answer' && asksToWait(record));
    const foldAll = (state: KeyState) => {
      for (const record of records) fold(state, record);
    };
    return patiently(this.#patience, () => this.#change(scope, hasGate ? 'durable' : 'quick', foldAll));
  }

  peek(scope: string): KeyState {
    return this.#latest(scope).state;
  }

  async list(): Promise<readonly KnownKey[]> {
    const rows = this.#connection.all('SELECT scope, state FROM limits ORDER BY scope');
    return rows.map(({ scope, state }) => ({ scope: String(scope), state: decode(state) }));
  }

  async clear(scope: string): Promise<void> {
    await patiently(this.#patience, () => this.#change(scope, 'quick', forget));
  }

  #change(scope: string, kind: 'quick' | 'durable', change: (state: KeyState) => void): KeyState {
    try {
      return this.#connection[kind](() => {
        const { version, state } = this.#latest(scope);
        change(state);
        const known = { version: version + 1, state };
        this.#connection.run(
          'INSERT OR REPLACE INTO limits (scope, version, state) VALUES (?, ?, ?)',
          scope,
          known.version,
          JSON.stringify(encodeState(known.state)),
        );
        this.#known.set(scope, known);
        return known.state;
      });
    } catch (error) {
      // It has been changed, but is not what is written.
      this.#known.delete(scope);
      throw error;
    }
  }

  #latest(scope: string): Known {
    const known = this.#known.get(scope);
    const row = this.#connection.get(
      'SELECT version, CASE version WHEN ? THEN NULL ELSE state END AS state FROM limits WHERE scope = ?',
      known?.version ?? 0,
      scope,
    );
    if (row === undefined) return { version: 0, state: emptyState() };
    if (row.state === null && known !== undefined) return known;
    const latest = { version: Number(row.version), state: decode(row.state) };
    this.#known.set(scope, latest);
    return latest;
  }
}

function decode(state: unknown): KeyState {
  return decodeState(JSON.parse(String(state)) as object);
}
