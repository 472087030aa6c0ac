import { parseDatabaseUrl } from '../../shared/database-url.ts';
import { UsageError } from '../../shared/errors.ts';
import { State, type StateOptions } from '../state.ts';
import { type Row, statement } from '../statements.ts';
import { type Ask, PostgresConnection } from './connection.ts';
import { PostgresLimits } from './postgres-limits.ts';
import { PostgresStateDatabase } from './postgres-state-database.ts';
import { findTables, makeTables } from './schema.ts';
import { type OpenWire, openWire } from './wire.ts';

export interface OpenPostgresOptions extends StateOptions {
  readonly url: string;
}

/**
 * Opens the state that several machines share, in the schema `petstock` of a database, and creates the schema if it is
 * missing.
 * @throws UnavailableError if the database can't be reached or an older version of petstock is using it, FailureError
 * if it can't be used, UsageError for an invalid URL
 */
export async function openPostgres(options: OpenPostgresOptions, open: OpenWire = openWire): Promise<State> {
  return postgresState(await connect(options, open, makeTables), options);
}

/**
 * Like `openPostgres`, for commands that only read. Creates no state, but upgrades the tables of an older version.
 * @returns undefined if the database has no state
 */
export async function openExistingPostgres(
  options: OpenPostgresOptions,
  open: OpenWire = openWire,
): Promise<State | undefined> {
  const connection = await connect(options, open, findTables);
  if (connection.epoch !== undefined) return postgresState(connection, options);
  await connection.close();
  return undefined;
}

function connect(
  { url, clock, interrupted }: OpenPostgresOptions,
  open: OpenWire,
  prepare: (ask: Ask, shown: string) => Promise<string | undefined>,
): Promise<PostgresConnection> {
  const parsed = parseDatabaseUrl(url);
  if (!parsed.ok) throw new UsageError(`The state URL can't be used: ${parsed.problem}`);
  const address = parsed.value;
  const preparing = (ask: Ask) => prepare(ask, address.shown);
  return PostgresConnection.open({ address, clock, interrupted, openWire: open, prepare: preparing });
}

function postgresState(connection: PostgresConnection, options: OpenPostgresOptions): State {
  const { clock, outageTimeout, warn } = options;
  const database = new PostgresStateDatabase(connection, clock, outageTimeout);
  const limits = new PostgresLimits(connection, database, clock);
  connection.onNotice = () => limits.invalidate();
  connection.onWait = () =>
    warn?.(`${database.name} can't be reached. petstock waits for it and sends nothing meanwhile`);
  const queryWithoutTimeout = async (sql: string) =>
    (await connection.query([statement(sql)], { noStatementTimeout: true }))[0] ?? [];
  const describe = async () => {
    const [row] = await queryWithoutTimeout(selectSettings);
    return {
      engine: `postgresql ${String(row?.version).split(' ')[0]}`,
      location: connection.shown,
      bytes: Number(row?.bytes),
      clockAhead: Math.round(connection.time.aheadOfWall),
      warnings: weaknesses(row),
    };
  };
  const close = async () => {
    limits.close();
    await connection.close();
  };
  return new State({ database, limits, describe, check: async () => [], queryWithoutTimeout, close }, options);
}

const selectSettings = `SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS pages, current_setting('synchronous_standby_names') AS awaited,
  (SELECT count(*)::integer FROM pg_stat_replication WHERE NOT EXISTS (
     SELECT 1 FROM pg_replication_slots WHERE active_pid = pid AND slot_type = 'logical')) AS standbys,
  (SELECT coalesce(sum(pg_total_relation_size(pg_class.oid)), 0)::float8 FROM pg_class
   JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = 'petstock' AND relkind IN ('r', 'S')) AS bytes`;

/** Describes settings of the server under which a crash or a failover may lose or damage committed data. */
function weaknesses(row: Row | undefined): string[] {
  const warnings: readonly [boolean, string][] = [
    [row?.fsync === 'off', 'The server runs with fsync off: a crash may lose or damage written data'],
    [row?.pages === 'off', 'The server runs with full_page_writes off: a crash may damage written data'],
    [
      row?.awaited === '' && Number(row.standbys) > 0,
      'The server does not wait for its standby (synchronous_standby_names is empty): a failover may lose written data',
    ],
  ];
  return warnings.filter(([isSo]) => isSo).map(([, words]) => words);
}
