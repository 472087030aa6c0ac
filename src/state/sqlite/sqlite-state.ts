import { statSync } from 'node:fs';
import { recordedResults } from '../recorded-results.ts';
import type { State, StateDescription } from '../state.ts';
import type { Connection } from './connection.ts';
import type { Shared } from './leases.ts';
import { schemaVersion } from './schema.ts';
import { isDamage, originOf } from './sqlite-errors.ts';
import { SqliteHistory } from './sqlite-history.ts';
import { SqliteLimits } from './sqlite-limits.ts';
import { SqlitePets } from './sqlite-pets.ts';
import { type PresenceOptions, SqlitePresence } from './sqlite-presence.ts';

export interface SqliteStateOptions extends PresenceOptions {
  /** A number in [0, 1). */
  random(): number;
  readonly isStandIn?: boolean;
}

export class SqliteState implements State {
  readonly limits: SqliteLimits;
  readonly pets: SqlitePets;
  readonly history: SqliteHistory;
  readonly presence: SqlitePresence;
  readonly isStandIn: boolean;
  readonly #connection: Connection;
  #isClosed = false;

  constructor(connection: Connection, options: SqliteStateOptions) {
    this.#connection = connection;
    this.isStandIn = options.isStandIn ?? false;
    this.presence = new SqlitePresence(connection, options);
    connection.whoIsPresent = () => this.presence.describeOthers();
    const { clock, random } = options;
    const shared: Shared = { connection, presence: this.presence, clock, random };
    this.limits = new SqliteLimits(shared);
    this.pets = new SqlitePets(shared);
    this.history = new SqliteHistory(shared, options.processes.self.host);
  }

  /** Writes something, since a full disk shows itself only then. */
  probe(): void {
    this.#connection.quick(() => this.#connection.run('UPDATE sequence SET last = last'));
  }

  async describe(): Promise<StateDescription> {
    const { file } = this.#connection;
    const sums = this.#connection.get('SELECT count(*) AS runs, coalesce(sum(changes), 0) AS rows FROM runs');
    return {
      engine: 'sqlite',
      location: file,
      schema: schemaVersion,
      bytes: sizeOf(file) + sizeOf(`${file}-wal`),
      runs: Number(sums?.runs),
      rows: Number(sums?.rows),
    };
  }

  async check(): Promise<readonly string[]> {
    try {
      const findings = this.#connection.all('PRAGMA integrity_check').map((row) => String(row.integrity_check));
      return [...findings.filter((finding) => finding !== 'ok'), ...this.#wrongCounts()];
    } catch (error) {
      // Damage can be such that the check itself breaks off.
      const origin = originOf(error);
      if (!isDamage(origin)) throw error;
      return [(origin as Error).message];
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      await this.history.flush();
    } finally {
      this.release();
    }
  }

  /** Closes at once; what is buffered is lost. */
  release(): void {
    this.presence.end();
    this.#connection.close();
  }

  #wrongCounts(): string[] {
    const sums = recordedResults.map((result) => `coalesce(sum(rows.result = '${result}'), 0) <> runs.${result}`);
    const wrong = this.#connection.all(
      `SELECT runs.run FROM runs LEFT JOIN rows ON rows.run = runs.id GROUP BY runs.id
       HAVING count(rows.row) <> runs.changes OR ${sums.join(' OR ')} ORDER BY runs.run`,
    );
    return wrong.map(({ run }) => `Run ${run} counts its rows wrongly`);
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
