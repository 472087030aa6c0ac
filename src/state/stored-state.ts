import { recordedResults } from '../inventory/run-records.ts';
import type { LimitsStore } from '../rate-limit/limits-store.ts';
import { Presence, type PresenceOptions } from './processes-present.ts';
import type { State, StateDescription } from './state.ts';
import { number, type Row, type Store } from './store.ts';
import { History } from './stored-history.ts';
import { Pets } from './stored-pets.ts';
import { schemaVersion } from './tables.ts';

export interface StoredStateOptions extends PresenceOptions {
  readonly isStandIn?: boolean;
  /** How long runs are kept, in milliseconds; undefined: for ever. */
  readonly keepFor?: number | undefined;
  /** Takes a sentence for stderr. */
  warn?(line: string): void;
}

/** The part of a state that an engine brings. */
export interface StateEngine {
  readonly store: Store;
  readonly limits: LimitsStore;
  describe(): Promise<Omit<StateDescription, 'schema' | 'runs' | 'rows'>>;
  /** Returns what the engine finds wrong with its files, a sentence each. */
  check(): Promise<readonly string[]>;
  /** Answers a question that may take long. */
  askAtLength(sql: string): Promise<readonly Row[]>;
  close(): Promise<void>;
}

/** A state in the tables of one engine. */
export class StoredState implements State {
  readonly limits: LimitsStore;
  readonly pets: Pets;
  readonly history: History;
  readonly presence: Presence;
  readonly isStandIn: boolean;
  readonly #engine: StateEngine;
  readonly #options: StoredStateOptions;
  #isClosed = false;

  constructor(engine: StateEngine, options: StoredStateOptions) {
    const { store } = engine;
    const { clock, random, processes } = options;
    this.#engine = engine;
    this.#options = options;
    this.isStandIn = options.isStandIn ?? false;
    this.presence = new Presence(store, options);
    const warn = (line: string) => options.warn?.(line);
    const context = { store, presence: this.presence, clock, random, warn };
    this.limits = engine.limits;
    this.pets = new Pets(context);
    this.history = new History(context, processes.self.host);
  }

  async describe(): Promise<StateDescription> {
    const [sums] = await this.#engine.askAtLength(
      'SELECT count(*) AS runs, coalesce(sum(changes), 0) AS rows FROM petstock.runs',
    );
    const engine = await this.#engine.describe();
    return { schema: schemaVersion, runs: number(sums?.runs) ?? 0, rows: number(sums?.rows) ?? 0, ...engine };
  }

  async check(): Promise<readonly string[]> {
    const findings = await this.#engine.check();
    return findings.length > 0 ? findings : this.#wrongCounts();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { clock, keepFor } = this.#options;
    try {
      await this.history.flush();
      // Ignored: this must not replace the command's own result, and a role that only writes may not remove anything.
      if (keepFor !== undefined) await this.history.removeOld(clock.now() - keepFor).catch(() => {});
    } finally {
      await this.presence.end();
      await this.#engine.close();
    }
  }

  async #wrongCounts(): Promise<string[]> {
    const sums = recordedResults.map(
      (result) => `sum(CASE WHEN rows.result = '${result}' THEN 1 ELSE 0 END) <> runs.${result}`,
    );
    const wrong = await this.#engine.askAtLength(
      `SELECT runs.run FROM petstock.runs LEFT JOIN petstock.rows ON rows.run = runs.id GROUP BY runs.id
       HAVING count(rows.row) <> runs.changes OR ${sums.join(' OR ')} ORDER BY runs.run`,
    );
    return wrong.map(({ run }) => `Run ${run} counts its rows wrongly`);
  }
}
