import { FailureError } from '../../shared/errors.ts';
import type { Query } from './connection.ts';
import { functions } from './functions.ts';
import { tables } from './tables.ts';

/** How a database of one version becomes one of the next. What has been released is never changed: a change is another step. */
const steps: readonly string[] = [
  `${tables}${functions}`,
  `
  ALTER TABLE petstock.rows ADD COLUMN delta bigint;
  ALTER TABLE petstock.runs ADD COLUMN head_skipped bigint NOT NULL DEFAULT 0, ADD COLUMN head_not_edited bigint NOT NULL DEFAULT 0;
  ${functions.replaceAll('CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION')}`,
];

export const schemaVersion = steps.length;

/** Names what waits for a migration, among all advisory locks of a database: `psst`, in ASCII. */
const migrationLock = 0x70737374;

/**
 * Brings a database to this version. Whether it has to be is seen without a transaction.
 * @param patient waits for the migration of another process
 * @throws FailureError where a later version has written it
 */
export async function migrate(query: Query, patient: Query, shown: string): Promise<void> {
  const found = await read(query, shown);
  if (found?.version === schemaVersion) {
    if (!found.goesOn) await query('SELECT petstock.begin_epoch()');
    return;
  }
  await query('BEGIN');
  try {
    for (const name of ['statement_timeout', 'lock_timeout']) await query(`SET LOCAL ${name} = '60s'`);
    await patient('SELECT pg_advisory_xact_lock($1)', migrationLock);
    // Another process may have been first.
    const version = (await versionOf(query, shown)) ?? 0;
    if (version < schemaVersion) for (const statement of migrationFrom(version)) await patient(statement);
    await query('COMMIT');
  } catch (error) {
    await query('ROLLBACK').catch(() => {});
    throw error;
  }
}

function migrationFrom(version: number): readonly string[] {
  return [
    'CREATE SCHEMA IF NOT EXISTS petstock',
    'CREATE TABLE IF NOT EXISTS petstock.meta (schema integer NOT NULL)',
    ...steps.slice(version),
    'DELETE FROM petstock.meta',
    `INSERT INTO petstock.meta VALUES (${schemaVersion})`,
  ];
}

/** @returns undefined where there is no state in the database. @throws FailureError where a later version has written it */
export async function versionOf(query: Query, shown: string): Promise<number | undefined> {
  return (await read(query, shown))?.version;
}

/** @returns with `goesOn` whether the database has not crashed since it was last used, nor another server taken over */
async function read(
  query: Query,
  shown: string,
): Promise<{ readonly version: number; readonly goesOn: boolean } | undefined> {
  // Not to_regclass: under the lock of the migration it may still say what it said before another process made the table.
  const [found] = await query(
    "SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = 'petstock' AND tablename = 'meta'",
  );
  if (found === undefined) return undefined;
  const [row] = await query('SELECT schema, EXISTS (SELECT 1 FROM petstock.epoch) AS goes_on FROM petstock.meta');
  const version = Number(row?.schema ?? 0);
  if (version > schemaVersion) {
    throw new FailureError(
      `The shared state at ${shown} was written by a later version of petstock (schema ${version}, not ${schemaVersion}): update petstock`,
      { hint: 'npm install --global petstock@latest' },
    );
  }
  return { version, goesOn: row?.goes_on === true };
}
