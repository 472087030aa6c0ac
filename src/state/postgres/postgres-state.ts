import type { Clock } from '../../shared/clock.ts';
import { recordedResults } from '../recorded-results.ts';
import type { State, StateDescription } from '../state.ts';
import type { PostgresConnection } from './connection.ts';
import { PostgresHistory } from './postgres-history.ts';
import { PostgresLimits } from './postgres-limits.ts';
import { PostgresPets } from './postgres-pets.ts';
import { PostgresPresence, type PresenceOptions } from './postgres-presence.ts';
import { schemaVersion } from './schema.ts';
import type { Shared } from './shared.ts';

export interface PostgresStateOptions extends PresenceOptions {
  readonly clock: Clock;
  /** A number in [0, 1). */
  random(): number;
}

export class PostgresState implements State {
  readonly limits: PostgresLimits;
  readonly pets: PostgresPets;
  readonly history: PostgresHistory;
  readonly presence: PostgresPresence;
  readonly #connection: PostgresConnection;
  #isClosed = false;

  constructor(connection: PostgresConnection, options: PostgresStateOptions) {
    this.#connection = connection;
    const { clock, random } = options;
    this.presence = new PostgresPresence(connection, options);
    const shared: Shared = { connection, presence: this.presence, clock, random };
    this.limits = new PostgresLimits(connection, clock);
    connection.onNotice = (payload) => this.limits.heard(payload);
    this.pets = new PostgresPets(shared);
    this.history = new PostgresHistory(shared, options.processes.self.host);
  }

  async describe(): Promise<StateDescription> {
    const [found] = await this.#connection.read(
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
    } finally {
      await this.presence.end();
      await this.#connection.close();
    }
  }

  async #wrongCounts(): Promise<string[]> {
    const sums = recordedResults.map((result) => `count(*) FILTER (WHERE rows.result = '${result}') <> runs.${result}`);
    const wrong = await this.#connection.readAll(
      `SELECT runs.run FROM petstock.runs LEFT JOIN petstock.rows ON rows.run = runs.id GROUP BY runs.id
       HAVING count(rows.row) <> runs.changes OR ${sums.join(' OR ')} ORDER BY runs.run`,
    );
    return wrong.map(({ run }) => `Run ${run} counts its rows wrongly`);
  }

  /** Settings of the server under which what it has committed may be gone after a crash, or after a failover. */
  async #weakSettings(): Promise<string[]> {
    const [row] = await this.#connection.read(
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
