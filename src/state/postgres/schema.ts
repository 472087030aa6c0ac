import { FailureError } from '../../shared/errors.ts';
import { flag, number, type Statement, statement, text } from '../statements.ts';
import { makingTables, requireReadable, schemaVersion } from '../tables.ts';
import { type Ask, commit } from './connection.ts';
import { isMissing } from './postgres-errors.ts';

/** Names what waits for a migration, among all advisory locks of a database: `psst`, in ASCII. */
const lock = statement('SELECT pg_advisory_xact_lock(?)', 0x70737374);

/**
 * Makes the tables if there are none, and listens from then on to what others have to say. Whether there are is seen without a transaction.
 * @returns the life of the database
 * @throws FailureError if another version has written it that this one can't read
 */
export async function makeTables(ask: Ask, shown: string): Promise<string | undefined> {
  const known = await read(ask, shown);
  if (known?.life !== undefined) return known.life;
  const goesOn = { isPatient: true, goesOn: true };
  await ask([lock], { isPatient: true, isDurable: true, begins: true });
  // Another process may have been first. Not to_regclass: under the lock it may still say what it said before another process made the table.
  const isThere = "SELECT 1 AS found FROM pg_catalog.pg_tables WHERE schemaname = 'petstock' AND tablename = 'meta'";
  const [[meta] = []] = await ask([statement(isThere)], goesOn);
  const [[epoch] = []] = meta === undefined ? [] : await ask([selectEpoch], goesOn);
  const steps = meta === undefined ? making : epoch === undefined ? beginEpoch : [];
  await ask([...steps, commit], goesOn);
  return (await read(ask, shown))?.life;
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
const making: readonly Statement[] = [
  'CREATE SCHEMA IF NOT EXISTS petstock',
  'CREATE TABLE petstock.meta (schema integer NOT NULL)',
  `INSERT INTO petstock.meta VALUES (${schemaVersion})`,
  'CREATE UNLOGGED TABLE petstock.epoch (since double precision NOT NULL)',
  insertEpoch,
  ...makingTables(),
].map((sql) => statement(sql));

/**
 * Numbers that were drawn before a crash may be drawn again after it, and a mark may hold one of them: begin above all of those. So it is
 * with the versions of limits, by which a process knows that what it has read is still there.
 */
const beginEpoch: readonly Statement[] = [
  'UPDATE petstock.sequence SET last = last + 1000000',
  'UPDATE petstock.limits SET version = version + 1000000',
  insertEpoch,
].map((sql) => statement(sql));

const selectVersion = statement('SELECT schema FROM petstock.meta');
const selectEpoch = statement('SELECT since FROM petstock.epoch ORDER BY since LIMIT 1');
const listen = statement('LISTEN petstock');

/**
 * Listens, and returns what there is: undefined for no tables; no life if the database has crashed since it was used, or another server has taken over.
 * @throws FailureError if this version can't read it
 */
async function read(ask: Ask, shown: string): Promise<{ readonly life: string | undefined } | undefined> {
  try {
    const [[row] = [], [epoch] = []] = await ask([selectVersion, selectEpoch, listen]);
    const way = 'give its schema another name (ALTER SCHEMA petstock RENAME TO petstock_old)';
    const aside = { way, hint: 'petstock config set state-url' };
    requireReadable(number(row?.schema) ?? 0, `The shared state at ${shown}`, aside);
    return { life: text(epoch?.since) };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
