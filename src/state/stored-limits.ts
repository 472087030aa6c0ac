import { fold } from '../rate-limit/fold.ts';
import type { KeyLimits, KnownKey } from '../rate-limit/key-limits.ts';
import { clearReported, copyOf, decodeState, emptyState, encodeState, type KeyState } from '../rate-limit/key-state.ts';
import type { LimitRecord } from '../rate-limit/limit-records.ts';
import { closesGate } from '../rate-limit/observation.ts';
import type { StateDatabase } from './state-database.ts';
import { type Row, type Statement, statement, text } from './statements.ts';

/** The limits of a key as read from or written to its database row, with times by the database's clock. */
export interface Known {
  /** 0 if the key has no row yet. */
  readonly version: number;
  readonly state: KeyState;
  /** Whether the row has a shape that petstock never writes, so that nothing is known about the key. */
  readonly isDamaged?: boolean;
}

/** @param isRepeated whether the change may already have been written, by a commit whose reply was lost */
export type Change = (state: KeyState, isRepeated: boolean) => void;

/** Selects the state only if its version differs from the known one. */
const select =
  'SELECT version, CASE version WHEN ? THEN NULL ELSE state END AS state FROM petstock.limits WHERE scope = ?';
/** Writes the state and returns its version; returns no row if another process has changed the row since. */
const upsert = `INSERT INTO petstock.limits (scope, version, state) VALUES (?, ?, ?) ON CONFLICT (scope) DO UPDATE
  SET version = limits.version + 1, state = excluded.state WHERE limits.version = ? RETURNING version`;

/**
 * Stores the limits of each key as a row of a table: loads the row, and writes the result of `next`. Works with any
 * engine.
 */
export abstract class StoredLimits implements KeyLimits {
  readonly #database: Pick<StateDatabase, 'query' | 'moment'>;
  protected readonly known = new Map<string, Known>();

  constructor(database: Pick<StateDatabase, 'query' | 'moment'>) {
    this.#database = database;
  }

  abstract peek(scope: string): KeyState;

  /**
   * Writes the changed row in one transaction. A gate is on disk when the promise resolves.
   * @returns the result of `keep`
   */
  protected abstract write(scope: string, hasGate: boolean, change: Change): Promise<KeyState>;

  /** Converts a record to the database's clock; by default, that is this machine's clock. */
  protected shared(record: LimitRecord): LimitRecord {
    return record;
  }

  /** Converts a state to this machine's clocks. */
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
    await this.write(scope, true, clearReported);
  }

  /** Returns the query of a row for `take`; it omits the state if the row still has this version. */
  protected reading(scope: string, version = this.known.get(scope)?.version ?? 0): Statement {
    return statement(select, version, scope);
  }

  /** @param row undefined if the key has no row. If the row's state is missing, the known version is still current */
  protected take(scope: string, row: Row | undefined): KeyState {
    const stored = text(row?.state);
    const version = Number(row?.version ?? 0);
    const known = this.known.get(scope);
    if (row && stored === undefined && known) return this.keep(scope, { ...known, version });
    const decoded = stored === undefined ? emptyState() : decode(stored);
    return this.keep(scope, { version, state: decoded ?? emptyState(), isDamaged: decoded === undefined });
  }

  /** Computes the changed row and the statement that writes it. Call `keep` once it was written. */
  protected next(scope: string, change: (state: KeyState) => void): { next: Known; writing: Statement } {
    const { version = 0, state: before = emptyState() } = this.known.get(scope) ?? {};
    const state = copyOf(before);
    change(state);
    // Versions start at the current microsecond: after a crash that lost the row, no version that was read before may
    // be reused.
    const first = Math.floor(this.#database.moment.now * 1000);
    const writing = statement(upsert, scope, first, encodeState(state), version);
    return { next: { version: version === 0 ? first : version + 1, state }, writing };
  }

  protected keep(scope: string, known: Known): KeyState {
    this.known.set(scope, known);
    return known.state;
  }
}

/**
 * Reports whether a record that may have been written is in the state. A start and a gate are always written again,
 * because that is harmless: a gate is never shortened.
 */
function hasLanded({ inFlight }: KeyState, record: LimitRecord): boolean {
  if (record.type === 'intent') return record.ids.some((id) => inFlight.has(id));
  return record.type !== 'start' && !closesGate(record) && !inFlight.has(record.id);
}

/**
 * Decodes the limits of a row; undefined for a shape that petstock never writes, because others can write to the
 * database, too.
 */
function decode(state: unknown): KeyState | undefined {
  try {
    return decodeState(String(state));
  } catch {
    return undefined;
  }
}
