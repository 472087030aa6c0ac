import { fold } from '../rate-limit/fold.ts';
import { copyOf, decodeState, emptyState, encodeState, forget, type KeyState } from '../rate-limit/key-state.ts';
import type { KnownKey, LimitsStore } from '../rate-limit/limits-store.ts';
import { closesGate } from '../rate-limit/observation.ts';
import type { LimitRecord } from '../rate-limit/records.ts';
import type { StateDatabase } from './state-database.ts';
import { type Row, type Statement, statement, text } from './statements.ts';

/** A state as a version of its row has it, by the clock of the database. */
export interface Known {
  /** 0: the key has no row yet. */
  readonly version: number;
  readonly state: KeyState;
  /** The row is of no shape that petstock writes: nothing is known of the key. */
  readonly isDamaged?: boolean;
}

/** @param isRepeated whether it may have been written already, by a commit whose answer was lost */
export type Change = (state: KeyState, isRepeated: boolean) => void;

/** The state only if its version is not the one that is known. */
const select =
  'SELECT version, CASE version WHEN ? THEN NULL ELSE state END AS state FROM petstock.limits WHERE scope = ?';
/** Nothing is returned if another version is there by now. */
const upsert = `INSERT INTO petstock.limits (scope, version, state) VALUES (?, ?, ?) ON CONFLICT (scope) DO UPDATE
  SET version = limits.version + 1, state = excluded.state WHERE limits.version = ? RETURNING version`;

/** The limits of each key in a table, by rules that know no engine: it loads a row, and stores what `next` makes of it. */
export abstract class StoredLimits implements LimitsStore {
  readonly #database: Pick<StateDatabase, 'query' | 'moment'>;
  protected readonly known = new Map<string, Known>();

  constructor(store: Pick<StateDatabase, 'query' | 'moment'>) {
    this.#database = store;
  }

  abstract peek(scope: string): KeyState;

  /** Writes what becomes of a row in one transaction. A gate is on the disk when it resolves. @returns what `keep` returns */
  protected abstract write(scope: string, hasGate: boolean, change: Change): Promise<KeyState>;

  /** Returns a record by the clock of the database, which is ours unless the engine says otherwise. */
  protected shared(record: LimitRecord): LimitRecord {
    return record;
  }

  /** Returns a state by the clocks of this machine. */
  protected local(state: KeyState): KeyState {
    return state;
  }

  async fold(scope: string, records: readonly LimitRecord[]): Promise<KeyState> {
    const state = await this.write(scope, records.some(closesGate), (known, isRepeated) => {
      for (const record of records) {
        if (!isRepeated || !hasLanded(known, record)) fold(known, this.shared(record));
      }
    });
    return this.local(state);
  }

  async list(): Promise<readonly KnownKey[]> {
    const [rows = []] = await this.#database.query(
      statement('SELECT scope, state FROM petstock.limits ORDER BY scope'),
    );
    return rows.map(({ scope, state }) => ({ scope: String(scope), state: this.local(decode(state) ?? emptyState()) }));
  }

  async clear(scope: string): Promise<void> {
    await this.write(scope, true, forget);
  }

  /** Returns the question for a row, for `take`; without the state if it has this version. */
  protected reading(scope: string, version = this.known.get(scope)?.version ?? 0): Statement {
    return statement(select, version, scope);
  }

  /** @param row undefined: the key has none. Without a state it is as in the version that is known already */
  protected take(scope: string, row: Row | undefined): KeyState {
    const stored = text(row?.state);
    const version = Number(row?.version ?? 0);
    const known = this.known.get(scope);
    if (row && stored === undefined && known) return this.keep(scope, { ...known, version });
    const decoded = stored === undefined ? emptyState() : decode(stored);
    return this.keep(scope, { version, state: decoded ?? emptyState(), isDamaged: decoded === undefined });
  }

  /** Works out what becomes of what is known. It is kept once it was written. */
  protected next(scope: string, change: (state: KeyState) => void): { next: Known; writing: Statement } {
    const { version = 0, state: before = emptyState() } = this.known.get(scope) ?? {};
    const state = copyOf(before);
    change(state);
    // Versions begin at the microsecond: a crash may lose the row, and none that was read of it may come again.
    const first = Math.floor(this.#database.moment.now * 1000);
    const writing = statement(upsert, scope, first, encodeState(state), version);
    return { next: { version: version === 0 ? first : version + 1, state }, writing };
  }

  protected keep(scope: string, known: Known): KeyState {
    this.known.set(scope, known);
    return known.state;
  }
}

/** Whether a record that may have been written is in the state. A gate is raised again all the same: it is never lowered. */
function hasLanded({ inFlight }: KeyState, record: LimitRecord): boolean {
  if (record.type === 'intent') return record.ids.some((id) => inFlight.has(id));
  return record.type !== 'start' && !closesGate(record) && !inFlight.has(record.id);
}

/** Returns the limits that a row has; undefined for a shape that petstock does not write, which a stranger may have done. */
function decode(state: unknown): KeyState | undefined {
  try {
    return decodeState(String(state));
  } catch {
    return undefined;
  }
}
