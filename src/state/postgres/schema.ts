import { FailureError, UnavailableError } from '../../shared/errors.ts';
import { flag, number, type Statement, statement, text } from '../statements.ts';
import { createTable, createTables, requireReadable, schemaVersion, upgradeSequence } from '../tables.ts';
import { type Ask, commit } from './connection.ts';
import { isMissing } from './postgres-errors.ts';

/** The advisory lock for migrations; its number is `psst` in ASCII. */
const lock = statement('SELECT pg_advisory_xact_lock(?)', 0x70737374);

/**
 * Creates the tables if there are none, upgrades older tables, begins a new epoch after a crash or a failover, and
 * starts listening for notifications. Locks nothing if there is nothing to do.
 * @returns the id of the database's epoch
 * @throws FailureError if this petstock can't use tables of that version, UnavailableError while a process of an older
 * version is using them
 */
export async function makeTables(ask: Ask, shown: string): Promise<string | undefined> {
  const known = await read(ask, shown);
  if (known?.epoch !== undefined) return known.epoch;
  const options = { noStatementTimeout: true, continues: true };
  await ask([lock], { noStatementTimeout: true, isDurable: true, begins: true });
  // Another process may have created the tables first. `to_regclass` can't be used: even under the lock it may return
  // an outdated result.
  const isThere = "SELECT 1 AS found FROM pg_catalog.pg_tables WHERE schemaname = 'petstock' AND tablename = 'meta'";
  const [[meta] = []] = await ask([statement(isThere)], options);
  if (meta === undefined) await ask([...createSchema(), commit], options);
  else {
    const [[found] = [], [known] = [], [present] = []] = await ask(
      [selectVersion, selectEpoch, selectPresent],
      options,
    );
    const isOlder = (number(found?.schema) ?? 0) < schemaVersion;
    if (isOlder && present !== undefined) {
      throw new UnavailableError(
        `An older version of petstock is using the shared state at ${shown}. Try again when it has ended`,
      );
    }
    const upgrades = isOlder ? upgrade().map((sql) => statement(sql)) : [];
    await ask([...upgrades, ...(known === undefined ? beginEpoch : []), commit], options);
  }
  return (await read(ask, shown))?.epoch;
}

/** Returns the statements that upgrade version 3, which lacks some columns and has other indexes. */
function upgrade(): string[] {
  return [
    'DROP INDEX IF EXISTS petstock.runs_by_time',
    'DROP INDEX petstock.rows_by_change',
    ...createTable('rows').filter((sql) => sql.includes('rows_by_change')),
    ...upgradeSequence(),
    'ALTER TABLE petstock.runs ADD COLUMN discarded boolean',
    `UPDATE petstock.meta SET schema = ${schemaVersion}`,
  ];
}

/**
 * Like `makeTables`, but creates no tables if there are none.
 * @returns the id of the database's epoch; undefined if there are no tables
 * @throws FailureError also if the role may not create them, because the command's first write would fail
 */
export async function findTables(ask: Ask, shown: string): Promise<string | undefined> {
  const found = await read(ask, shown);
  if (found !== undefined) return found.epoch ?? makeTables(ask, shown);
  const [[row] = []] = await ask([
    statement(
      "SELECT has_database_privilege(current_database(), 'CREATE') AS may, current_user AS role, current_database() AS name",
    ),
  ]);
  if (flag(row?.may)) return undefined;
  throw new FailureError(
    `There is no shared state at ${shown} yet, and the role ${row?.role} can't create it: it lacks the CREATE privilege on the database ${row?.name}. Create it with another role`,
    { hint: 'petstock state init' },
  );
}

const insertEpoch = `INSERT INTO petstock.epoch VALUES (extract(epoch FROM clock_timestamp()) * 1000)`;

/**
 * Returns the statements that create the schema. `epoch` has one row. A crash or a failover removes it, because the
 * table is unlogged.
 */
function createSchema(): Statement[] {
  const own = [
    'CREATE SCHEMA IF NOT EXISTS petstock',
    'CREATE TABLE petstock.meta (schema integer NOT NULL)',
    `INSERT INTO petstock.meta VALUES (${schemaVersion})`,
    'CREATE UNLOGGED TABLE petstock.epoch (since double precision NOT NULL)',
    insertEpoch,
  ];
  return [...own, ...createTables()].map((sql) => statement(sql));
}

/**
 * Sequence numbers allocated before a crash could be allocated again, and a read version may hold one, so the new epoch
 * starts above all of them. The same applies to the versions of limits, by which a process recognizes an unchanged row.
 */
const beginEpoch: readonly Statement[] = [
  'UPDATE petstock.sequence SET last = last + 1000000, raised = raised + 1000000',
  'UPDATE petstock.limits SET version = version + 1000000',
  insertEpoch,
].map((sql) => statement(sql));

const selectVersion = statement('SELECT schema FROM petstock.meta');
const selectEpoch = statement('SELECT since FROM petstock.epoch ORDER BY since LIMIT 1');
const selectPresent = statement(
  'SELECT 1 AS found FROM petstock.presence WHERE expires > extract(epoch FROM clock_timestamp()) * 1000 LIMIT 1',
);
const listen = statement('LISTEN petstock');

/**
 * Starts listening, and reads the version and epoch.
 * @returns undefined if there are no tables; without `epoch` for tables of an older version, and after a crash or a
 * failover
 * @throws FailureError if this petstock can't use tables of that version
 */
async function read(ask: Ask, shown: string): Promise<{ readonly epoch: string | undefined } | undefined> {
  try {
    const [[row] = [], [epoch] = []] = await ask([selectVersion, selectEpoch, listen]);
    const way = 'rename its schema (ALTER SCHEMA petstock RENAME TO petstock_old)';
    const aside = { way, hint: 'petstock config set state-url' };
    const version = number(row?.schema) ?? 0;
    requireReadable(version, `The shared state at ${shown}`, aside);
    return { epoch: version < schemaVersion ? undefined : text(epoch?.since) };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
