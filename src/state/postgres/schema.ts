import { FailureError, UnavailableError } from '../../shared/errors.ts';
import { flag, number, type Row, type Statement, statement } from '../store.ts';
import type { Ask } from './connection.ts';
import { isMissing } from './postgres-errors.ts';
import { tables, upgrade } from './tables.ts';

export const schemaVersion = 3;

/** Names what waits for a migration, among all advisory locks of a database: `psst`, in ASCII. */
const migrationLock = 0x70737374;

/** Whether the state is there, its version, and whether the database has crashed since it was used, or another server has taken over. */
interface Found {
  readonly version: number;
  readonly goesOn: boolean;
}

/**
 * Brings a database to this version. Whether it has to be is seen without a transaction.
 * @throws FailureError if a later version has written it, UnavailableError while a process of an older version writes by it
 */
export async function migrate(ask: Ask, shown: string): Promise<void> {
  const found = await read(ask, shown);
  if (found?.version === schemaVersion) {
    if (!found.goesOn) await beginEpoch(ask);
    return;
  }
  const patient = { isPatient: true, isDurable: true };
  await ask([statement('SELECT pg_advisory_xact_lock(?)', migrationLock)], { ...patient, begins: true });
  try {
    // Another process may have been first.
    const version = (await readLocked(ask, shown))?.version ?? 0;
    if (version > 0 && version < schemaVersion) await requireNobody(ask, shown);
    if (version < schemaVersion) await ask(migrationFrom(version), { isPatient: true, goesOn: true });
    await ask([statement('COMMIT')], { isPatient: true, goesOn: true });
  } catch (error) {
    await ask([statement('ROLLBACK')], { goesOn: true }).catch(() => {});
    throw error;
  }
  await ask([statement('LISTEN petstock')]);
}

/** @returns undefined if there is no state in the database. @throws FailureError if a later version has written it */
export async function versionOf(ask: Ask, shown: string): Promise<number | undefined> {
  return (await read(ask, shown))?.version;
}

/** @throws FailureError if the role may not make a state where there is none: its first write would fail */
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

function migrationFrom(version: number): Statement[] {
  const steps =
    version === 0
      ? `CREATE SCHEMA IF NOT EXISTS petstock; CREATE TABLE IF NOT EXISTS petstock.meta (schema integer NOT NULL); ${tables}`
      : upgrade;
  return [
    ...statementsOf(steps),
    statement('DELETE FROM petstock.meta'),
    statement('INSERT INTO petstock.meta VALUES (?)', schemaVersion),
  ];
}

/** One statement at a time is what a pipeline takes. */
function statementsOf(script: string): Statement[] {
  const bare = script.replace(/^\s*--.*$/gm, '');
  return (bare.match(/(?:\$\$[\s\S]*?\$\$|[^;])+/g) ?? []).flatMap((sql) =>
    sql.trim() === '' ? [] : [statement(sql.trim())],
  );
}

/** Processes of older versions call functions that are there no more. */
async function requireNobody(ask: Ask, shown: string): Promise<void> {
  const [[present] = []] = await ask(
    [
      statement(
        'SELECT 1 AS found FROM petstock.presence WHERE expires > extract(epoch FROM clock_timestamp()) * 1000 LIMIT 1',
      ),
    ],
    { goesOn: true },
  );
  if (present === undefined) return;
  throw new UnavailableError(
    `An older version of petstock is writing by the shared state at ${shown}: try again when it has ended`,
    { hint: 'petstock state info' },
  );
}

/** Numbers that were drawn before a crash may be drawn again after it, and a mark may hold one of them: begin above all of those. */
async function beginEpoch(ask: Ask): Promise<void> {
  await ask([statement('SELECT pg_advisory_xact_lock(?)', migrationLock)], { isDurable: true, begins: true });
  const [[known] = []] = await ask([statement('SELECT 1 AS found FROM petstock.epoch')], { goesOn: true });
  const begin = [
    statement('UPDATE petstock.sequence SET last = last + 1000000'),
    statement('INSERT INTO petstock.epoch VALUES (extract(epoch FROM clock_timestamp()) * 1000)'),
  ];
  await ask([...(known === undefined ? begin : []), statement('COMMIT')], { goesOn: true });
}

/** What is there, and listens from now on to what others have to say. */
async function read(ask: Ask, shown: string): Promise<Found | undefined> {
  try {
    const [[row] = [], epoch = []] = await ask([...selectFound, statement('LISTEN petstock')]);
    return foundIn(row, epoch, shown);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

const selectFound = [statement('SELECT schema FROM petstock.meta'), statement('SELECT 1 AS found FROM petstock.epoch')];

/** The same inside a transaction, which an error would end. */
async function readLocked(ask: Ask, shown: string): Promise<Found | undefined> {
  // Not to_regclass: under the lock of the migration it may still say what it said before another process made the table.
  const isThere = statement(
    "SELECT 1 AS found FROM pg_catalog.pg_tables WHERE schemaname = 'petstock' AND tablename = 'meta'",
  );
  const [[found] = []] = await ask([isThere], { isPatient: true, goesOn: true });
  if (found === undefined) return undefined;
  const [[row] = [], epoch = []] = await ask(selectFound, { isPatient: true, goesOn: true });
  return foundIn(row, epoch, shown);
}

function foundIn(row: Row | undefined, epoch: readonly Row[], shown: string): Found {
  const version = number(row?.schema) ?? 0;
  if (version > schemaVersion) {
    throw new FailureError(
      `The shared state at ${shown} was written by a later version of petstock (schema ${version}, not ${schemaVersion}): update petstock`,
      { hint: 'npm install --global petstock@latest' },
    );
  }
  return { version, goesOn: epoch.length > 0 };
}
