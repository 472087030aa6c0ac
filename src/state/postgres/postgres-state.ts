import type { Clock } from '../../shared/clock.ts';
import { type PresenceOptions, StoredPresence } from '../processes-present.ts';
import { recordedResults } from '../recorded-results.ts';
import type { State, StateDescription } from '../state.ts';
import { type Row, statement } from '../store.ts';
import { StoredHistory } from '../stored-history.ts';
import { StoredPets } from '../stored-pets.ts';
import { schemaVersion } from '../tables.ts';
import type { PostgresConnection } from './connection.ts';
import { PostgresLimits } from './postgres-limits.ts';
import { limitsTable } from './postgres-limits-table.ts';
import { PostgresStore } from './postgres-store.ts';

export interface PostgresStateOptions extends PresenceOptions {
  readonly clock: Clock;
  /** How long a run that sends nothing meanwhile waits for the database, in milliseconds; default 5 s. */
  readonly patience?: number | undefined;
  /** How long runs are kept, in milliseconds; undefined: for ever. */
  readonly keepFor?: number | undefined;
  /** Takes a sentence for stderr. */
  warn?(line: string): void;
}

export class PostgresState implements State {
  readonly limits: PostgresLimits;
  readonly pets: StoredPets;
  readonly history: StoredHistory;
  readonly presence: StoredPresence;
  readonly #connection: PostgresConnection;
  readonly #clock: Clock;
  readonly #keepFor: number | undefined;
  #isClosed = false;

  constructor(connection: PostgresConnection, options: PostgresStateOptions) {
    const { clock, random } = options;
    const warn = (line: string) => options.warn?.(line);
    this.#connection = connection;
    this.#clock = clock;
    this.#keepFor = options.keepFor;
    const store = new PostgresStore(connection, clock, options.patience);
    this.presence = new StoredPresence(store, options);
    const context = { store, presence: this.presence, clock, random, warn };
    this.limits = new PostgresLimits(limitsTable(connection), clock);
    connection.onNotice = () => this.limits.heard();
    connection.onWait = () => warn(`${store.name} can't be reached: waiting for it, and nothing is sent meanwhile`);
    this.pets = new StoredPets(context);
    this.history = new StoredHistory(context, options.processes.self.host);
  }

  async describe(): Promise<StateDescription> {
    const [found] = await this.#read(
      `SELECT current_setting('server_version') AS version, count(*)::float8 AS runs, coalesce(sum(changes), 0)::float8 AS rows,
         (SELECT coalesce(sum(pg_total_relation_size(pg_class.oid)), 0)::float8 FROM pg_class
          JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = 'petstock' AND relkind IN ('r', 'S')) AS bytes
       FROM petstock.runs`,
    );
    await this.#connection.readTime();
    return {
      engine: `postgresql ${String(found?.version).split(' ')[0]}`,
      location: this.#connection.shown,
      schema: schemaVersion,
      bytes: Number(found?.bytes),
      runs: Number(found?.runs),
      rows: Number(found?.rows),
      clockAhead: Math.round(this.#connection.time.ahead),
      warnings: await this.#weakSettings(),
    };
  }

  async check(): Promise<readonly string[]> {
    return this.#wrongCounts();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.limits.close();
    try {
      await this.history.flush();
      if (this.#keepFor !== undefined) await this.history.removeOld(this.#clock.now() - this.#keepFor);
    } finally {
      await this.presence.end();
      await this.#connection.close();
    }
  }

  async #read(sql: string): Promise<readonly Row[]> {
    const [rows = []] = await this.#connection.ask([statement(sql)], { isPatient: true });
    return rows;
  }

  async #wrongCounts(): Promise<string[]> {
    const sums = recordedResults.map((result) => `count(*) FILTER (WHERE rows.result = '${result}') <> runs.${result}`);
    const wrong = await this.#read(
      `SELECT runs.run FROM petstock.runs LEFT JOIN petstock.rows ON rows.run = runs.id GROUP BY runs.id
       HAVING count(rows.row) <> runs.changes OR ${sums.join(' OR ')} ORDER BY runs.run`,
    );
    return wrong.map(({ run }) => `Run ${run} counts its rows wrongly`);
  }

  /** Settings of the server under which what it has committed may be gone after a crash, or after a failover. */
  async #weakSettings(): Promise<string[]> {
    const [row] = await this.#read(
      `SELECT current_setting('fsync') AS fsync, current_setting('full_page_writes') AS pages,
         current_setting('synchronous_standby_names') AS awaited,
         (SELECT count(*)::integer FROM pg_stat_replication WHERE NOT EXISTS (
            SELECT 1 FROM pg_replication_slots WHERE active_pid = pid AND slot_type = 'logical')) AS standbys`,
    );
    const warnings: readonly [boolean, string][] = [
      [row?.fsync === 'off', 'The server runs with fsync off: a crash may lose or damage what was written'],
      [row?.pages === 'off', 'The server runs with full_page_writes off: a crash may damage what was written'],
      [
        row?.awaited === '' && Number(row.standbys) > 0,
        'The server does not wait for its standby (synchronous_standby_names is empty): a failover may lose what was written',
      ],
    ];
    return warnings.filter(([isSo]) => isSo).map(([, words]) => words);
  }
}
