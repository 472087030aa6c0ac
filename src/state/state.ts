import { recordedResults } from '../inventory/run-records.ts';
import type { KeyLimits } from '../rate-limit/key-limits.ts';
import { type GateFilesOptions, LimitsWithGateFiles } from '../rate-limit/limits-with-gate-files.ts';
import { History } from './history.ts';
import { Pets } from './pet-locks.ts';
import { PetWrites } from './pet-writes.ts';
import { Presence, type PresenceOptions } from './presence.ts';
import { runIdIn } from './run-ids.ts';
import type { StateContext } from './state-context.ts';
import type { StateDatabase } from './state-database.ts';
import { StateNotes } from './state-notes.ts';
import { number, type Row } from './statements.ts';
import { schemaVersion } from './tables.ts';

export interface StateOptions extends PresenceOptions, Omit<GateFilesOptions, 'warn'> {
  readonly isFallback?: boolean;
  /** The age in milliseconds from which `close` removes finished runs; undefined to keep all runs. */
  readonly keepFor?: number | undefined;
  /**
   * How long a durable write waits for a shared state that can no longer be reached, in milliseconds; default 5 s. The
   * command sends nothing meanwhile.
   */
  readonly outageTimeout?: number | undefined;
  /** See `StateContext`. */
  readonly elsewhere?: StateContext['elsewhere'];
  /** Prints a line on stderr. */
  warn?(line: string): void;
}

export interface StateDescription {
  /** The database engine, like `sqlite` or `postgresql 16.4`. */
  readonly engine: string;
  /** A path, or an address without its password. */
  readonly location: string;
  readonly schema: number;
  readonly bytes: number;
  readonly runs: number;
  readonly rows: number;
  /**
   * How far the state's clock is ahead of this machine's, in milliseconds; absent if the state has no clock of its own.
   */
  readonly clockAhead?: number;
  /** Settings of the state that weaken a guarantee, one sentence each. */
  readonly warnings?: readonly string[];
}

/** The part of a state that depends on the database engine. */
export interface StateEngine {
  readonly database: StateDatabase;
  readonly limits: KeyLimits;
  describe(): Promise<Omit<StateDescription, 'schema' | 'runs' | 'rows'>>;
  /** Returns the errors that SQLite finds in the file, in its own words. Does not check a shared state. */
  check(): Promise<readonly string[]>;
  queryWithoutTimeout(sql: string): Promise<readonly Row[]>;
  close(): Promise<void>;
}

/**
 * State shared by commands: rate limits per key, leases per pet, the history of writes, and the processes that are
 * alive. Methods that may cross a network are async. The checks made right before sending a request are synchronous.
 */
export class State {
  readonly limits: KeyLimits;
  readonly pets: Pets;
  readonly petWrites: PetWrites;
  readonly history: History;
  readonly presence: Presence;
  /**
   * True if this local state is a fallback for a shared one that can't be reached. Other machines use the same keys
   * without being visible here.
   */
  readonly isFallback: boolean;
  readonly #engine: StateEngine;
  readonly #options: StateOptions;
  #isClosed = false;

  constructor(engine: StateEngine, options: StateOptions) {
    const { database } = engine;
    const { folder, interrupted, isFallback = false, elsewhere } = options;
    const warn = (line: string) => options.warn?.(line);
    const presence = new Presence(database, options);
    const notes = new StateNotes(folder, database.name);
    const context = { ...options, database, presence, folder, notes, elsewhere, interrupted, warn };
    this.#engine = engine;
    this.#options = options;
    this.isFallback = isFallback;
    this.limits = new LimitsWithGateFiles(engine.limits, { ...options, warn });
    this.presence = presence;
    this.pets = new Pets(context);
    this.petWrites = new PetWrites(database);
    this.history = new History(context);
  }

  async describe(): Promise<StateDescription> {
    const [sums] = await this.#engine.queryWithoutTimeout(
      'SELECT count(*) AS runs, coalesce(sum(changes), 0) AS rows FROM petstock.runs',
    );
    const engine = await this.#engine.describe();
    return { schema: schemaVersion, runs: number(sums?.runs) ?? 0, rows: number(sums?.rows) ?? 0, ...engine };
  }

  /**
   * Checks the file of a local state and, unless it has errors, the row counts of all runs.
   * @returns one line for each error; empty if there is none
   */
  async check(): Promise<readonly string[]> {
    const findings = await this.#engine.check();
    if (findings.length > 0) return findings;
    const sums = recordedResults.map(
      (result) => `sum(CASE WHEN rows.result = '${result}' THEN 1 ELSE 0 END) <> runs.${result}`,
    );
    const wrong = await this.#engine.queryWithoutTimeout(
      `SELECT runs.run FROM petstock.runs LEFT JOIN petstock.rows ON rows.run = runs.id GROUP BY runs.id
       HAVING count(rows.row) <> runs.changes OR ${sums.join(' OR ')} ORDER BY runs.run`,
    );
    return wrong.map(({ run }) => `The row counts of run ${runIdIn(run)} are wrong`);
  }

  /**
   * Flushes buffered outcomes, removes old runs, ends the presence of this process, and closes the connection. May be
   * called again.
   */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { keepFor } = this.#options;
    try {
      await this.history.flush();
      // An error is ignored, because it must not replace the command's own result, and a role that may only write can't
      // remove anything.
      if (keepFor !== undefined) await this.history.removeOld(keepFor).catch(() => {});
    } finally {
      await this.presence.end();
      await this.#engine.close();
    }
  }
}
