import type { Row } from '../store.ts';
import { statement } from '../store.ts';
import { StoredState, type StoredStateOptions } from '../stored-state.ts';
import type { PostgresConnection } from './connection.ts';
import { PostgresLimits } from './postgres-limits.ts';
import { limitsTable } from './postgres-limits-table.ts';
import { PostgresStore } from './postgres-store.ts';

export interface PostgresStateOptions extends StoredStateOptions {
  /** How long a run that sends nothing meanwhile waits for the database, in milliseconds; default 5 s. */
  readonly patience?: number | undefined;
}

/** Returns the state in a database. */
export function postgresState(connection: PostgresConnection, options: PostgresStateOptions): StoredState {
  const { clock, patience } = options;
  const store = new PostgresStore(connection, clock, patience);
  const limits = new PostgresLimits(limitsTable(connection), clock);
  connection.onNotice = () => limits.heard();
  connection.onWait = () =>
    options.warn?.(`${store.name} can't be reached: waiting for it, and nothing is sent meanwhile`);
  const askAtLength = async (sql: string) => {
    const [rows = []] = await connection.ask([statement(sql)], { isPatient: true });
    return rows;
  };
  const describe = async () => {
    const [row] = await askAtLength(selectSettings);
    await connection.readTime();
    return {
      engine: `postgresql ${String(row?.version).split(' ')[0]}`,
      location: connection.shown,
      bytes: Number(row?.bytes),
      clockAhead: Math.round(connection.time.ahead),
      warnings: weaknesses(row),
    };
  };
  const close = async () => {
    limits.close();
    await connection.close();
  };
  return new StoredState({ store, limits, describe, check: async () => [], askAtLength, close }, options);
}

const selectSettings = `SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS pages, current_setting('synchronous_standby_names') AS awaited,
  (SELECT count(*)::integer FROM pg_stat_replication WHERE NOT EXISTS (
     SELECT 1 FROM pg_replication_slots WHERE active_pid = pid AND slot_type = 'logical')) AS standbys,
  (SELECT coalesce(sum(pg_total_relation_size(pg_class.oid)), 0)::float8 FROM pg_class
   JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = 'petstock' AND relkind IN ('r', 'S')) AS bytes`;

/** Returns the settings of the server under which what it has committed may be gone after a crash, or after a failover. */
function weaknesses(row: Row | undefined): string[] {
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
