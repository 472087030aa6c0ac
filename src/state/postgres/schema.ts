import { FailureError } from '../../shared/errors.ts';
import { flag, number, statement } from '../store.ts';
import { migrationFrom, oldestVersion, schemaVersion, updateHint } from '../tables.ts';
import type { Ask } from './connection.ts';
import { isMissing } from './postgres-errors.ts';

/** Names what waits for a migration, among all advisory locks of a database: `psst`, in ASCII. */
const lock = statement('SELECT pg_advisory_xact_lock(?)', 0x70737374);
const commit = statement('COMMIT');
const now = 'extract(epoch FROM clock_timestamp()) * 1000';

/** `epoch` has a row. A crash empties it, and so does a standby that takes over: then numbers begin anew above all that were drawn before. */
const ownTables = [
  'CREATE SCHEMA IF NOT EXISTS petstock',
  'CREATE TABLE petstock.meta (schema integer NOT NULL)',
  'CREATE UNLOGGED TABLE petstock.epoch (since double precision NOT NULL)',
  `INSERT INTO petstock.epoch VALUES (${now})`,
];

/**
 * Brings a database to this version, and listens from then on to what others have to say. Whether it has to be is seen without a transaction.
 * @throws FailureError if another version has written it that this one can't read
 */
export async function migrate(ask: Ask, shown: string): Promise<void> {
  const found = await read(ask, shown);
  if (found?.version === schemaVersion) {
    if (!found.goesOn) await beginEpoch(ask);
    return;
  }
  const goesOn = { isPatient: true, goesOn: true };
  await ask([lock], { isPatient: true, isDurable: true, begins: true });
  try {
    // Another process may have been first. Not to_regclass: under the lock it may still say what it said before another process made the table.
    const isThere = "SELECT 1 AS found FROM pg_catalog.pg_tables WHERE schemaname = 'petstock' AND tablename = 'meta'";
    const [[meta] = []] = await ask([statement(isThere)], goesOn);
    const [[row] = []] = meta === undefined ? [] : await ask([selectVersion], goesOn);
    const version = readable(number(row?.schema) ?? 0, shown);
    const steps = [...(meta === undefined ? ownTables : []), ...migrationFrom(version)];
    await ask([...steps.map((sql) => statement(sql)), ...writeVersion, commit], goesOn);
  } catch (error) {
    await ask([statement('ROLLBACK')], goesOn).catch(() => {});
    throw error;
  }
  await ask([listen]);
}

/** @throws FailureError if there is no state in the database, and the role may not make one: its first write would fail */
export async function requireMaking(ask: Ask, shown: string): Promise<void> {
  const [[row] = []] = await ask([
    statement(
      "SELECT has_database_privilege(current_database(), 'CREATE') AS may, current_user AS role, current_database() AS name",
    ),
  ]);
  if (flag(row?.may)) return;
  throw new FailureError(
    `There is no shared state at ${shown} yet, and the role ${row?.role} may not make it: it has no CREATE on the database ${row?.name}`,
    { hint: 'petstock state grant --print <role>' },
  );
}

/**
 * Numbers that were drawn before a crash may be drawn again after it, and a mark may hold one of them: begin above all of those. So it is
 * with the versions of limits, by which a process knows that what it has read is still there.
 */
async function beginEpoch(ask: Ask): Promise<void> {
  await ask([lock], { isDurable: true, begins: true });
  const [[known] = []] = await ask([selectEpoch], { goesOn: true });
  const begin = [
    statement('UPDATE petstock.sequence SET last = last + 1000000'),
    statement('UPDATE petstock.limits SET version = version + 1000000'),
    statement(`INSERT INTO petstock.epoch VALUES (${now})`),
  ];
  await ask([...(known === undefined ? begin : []), commit], { goesOn: true });
}

interface Found {
  readonly version: number;
  /** Whether the database has not crashed since it was used, nor another server taken over. */
  readonly goesOn: boolean;
}

const selectVersion = statement('SELECT schema FROM petstock.meta');
const selectEpoch = statement('SELECT 1 AS found FROM petstock.epoch');
const writeVersion = [
  statement('DELETE FROM petstock.meta'),
  statement('INSERT INTO petstock.meta VALUES (?)', schemaVersion),
];
const listen = statement('LISTEN petstock');

/** Returns what is there, and listens; undefined if there is no state in the database. @throws FailureError if this version can't read it */
export async function read(ask: Ask, shown: string): Promise<Found | undefined> {
  try {
    const [[row] = [], epoch = []] = await ask([selectVersion, selectEpoch, listen]);
    return { version: readable(number(row?.schema) ?? 0, shown), goesOn: epoch.length > 0 };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function readable(version: number, shown: string): number {
  if (version > schemaVersion) {
    throw new FailureError(
      `The shared state at ${shown} was written by a later version of petstock (schema ${version}, not ${schemaVersion}): update petstock`,
      { hint: updateHint },
    );
  }
  if (version > 0 && version < oldestVersion) {
    throw new FailureError(
      `The shared state at ${shown} was written by a version of petstock that was never released, and is left as it is: give its schema another name (ALTER SCHEMA petstock RENAME TO petstock_old)`,
      { hint: 'petstock config set state-url' },
    );
  }
  return version;
}
