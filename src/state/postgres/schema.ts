import { FailureError, UnavailableError } from '../../shared/errors.ts';
import { flag, number, type Statement, statement, text } from '../statements.ts';
import {
  createTables,
  makingTable,
  requireReadable,
  schemaVersion,
  upgradingRuns,
  upgradingSequence,
} from '../tables.ts';
import { type Ask, commit } from './connection.ts';
import { isMissing } from './postgres-errors.ts';

/** Names what waits for a migration, among all advisory locks of a database: `psst`, in ASCII. */
const lock = statement('SELECT pg_advisory_xact_lock(?)', 0x70737374);

/**
 * Makes the tables if there are none, brings those of an older version to this one, and listens from then on to what others have to say. Whether that
 * is needed is seen without a transaction.
 * @returns the life of the database
 * @throws FailureError if another version has written it that this one can't read, UnavailableError while a process of an older one writes by it
 */
export async function makeTables(ask: Ask, shown: string): Promise<string | undefined> {
  const known = await read(ask, shown);
  if (known?.life !== undefined) return known.life;
  const goesOn = { noStatementTimeout: true, goesOn: true };
  await ask([lock], { noStatementTimeout: true, isDurable: true, begins: true });
  // Another process may have been first. Not to_regclass: under the lock it may still say what it said before another process made the table.
  const isThere = "SELECT 1 AS found FROM pg_catalog.pg_tables WHERE schemaname = 'petstock' AND tablename = 'meta'";
  const [[meta] = []] = await ask([statement(isThere)], goesOn);
  if (meta === undefined) await ask([...making(), commit], goesOn);
  else {
    const [[found] = [], [known] = [], [present] = []] = await ask([selectVersion, selectEpoch, selectPresent], goesOn);
    const version = number(found?.schema) ?? 0;
    const isOlder = version < schemaVersion;
    if (isOlder && present !== undefined) {
      throw new UnavailableError(
        `An older version of petstock is writing by the shared state at ${shown}: try again when it has ended`,
        { hint: 'petstock state info' },
      );
    }
    const upgrade = isOlder ? upgradeFrom(version) : [];
    await ask([...upgrade, ...(known === undefined ? beginEpoch : []), commit], goesOn);
  }
  return (await read(ask, shown))?.life;
}

/** Version 3 has other indexes. */
function upgradeFrom(version: number): Statement[] {
  const indexes = [
    'DROP INDEX IF EXISTS petstock.runs_by_time',
    'DROP INDEX petstock.rows_by_change',
    ...makingTable('rows').filter((sql) => sql.includes('rows_by_change')),
  ];
  const tables = [...upgradingSequence(version), upgradingRuns, `UPDATE petstock.meta SET schema = ${schemaVersion}`];
  return [...(version === 3 ? indexes : []), ...tables].map((sql) => statement(sql));
}

/**
 * Does the same if there are tables. @returns the life of the database; undefined if there are none
 * @throws FailureError also if the role may not make them: its first write would fail
 */
export async function findTables(ask: Ask, shown: string): Promise<string | undefined> {
  const found = await read(ask, shown);
  if (found !== undefined) return found.life ?? makeTables(ask, shown);
  const [[row] = []] = await ask([
    statement(
      "SELECT has_database_privilege(current_database(), 'CREATE') AS may, current_user AS role, current_database() AS name",
    ),
  ]);
  if (flag(row?.may)) return undefined;
  throw new FailureError(
    `There is no shared state at ${shown} yet, and the role ${row?.role} may not make it: it has no CREATE on the database ${row?.name}`,
    { hint: 'petstock state grant --print <role>' },
  );
}

const insertEpoch = `INSERT INTO petstock.epoch VALUES (extract(epoch FROM clock_timestamp()) * 1000)`;

/** `epoch` has a row. A crash empties it, and so does a standby that takes over. */
function making(): Statement[] {
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
 * Numbers that were drawn before a crash may be drawn again after it, and a mark may hold one of them: begin above all of those. So it is
 * with the versions of limits, by which a process knows that what it has read is still there.
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
 * Listens, and returns what there is: undefined for no tables; no life for those of an older version, and if the database has crashed since it was used,
 * or another server has taken over.
 * @throws FailureError if this version can't read it
 */
async function read(ask: Ask, shown: string): Promise<{ readonly life: string | undefined } | undefined> {
  try {
    const [[row] = [], [epoch] = []] = await ask([selectVersion, selectEpoch, listen]);
    const way = 'give its schema another name (ALTER SCHEMA petstock RENAME TO petstock_old)';
    const aside = { way, hint: 'petstock config set state-url' };
    const version = number(row?.schema) ?? 0;
    requireReadable(version, `The shared state at ${shown}`, aside);
    return { life: version < schemaVersion ? undefined : text(epoch?.since) };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
