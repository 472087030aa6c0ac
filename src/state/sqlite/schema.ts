import { FailureError } from '../../shared/errors.ts';
import { shellWord } from '../../shared/where.ts';
import { migrationFrom, oldestVersion, schemaVersion, updateHint } from '../tables.ts';
import { type Connection, incremental } from './connection.ts';

/** `psst`, in ASCII: says whose file it is. */
const applicationId = 0x70737374;

/**
 * Brings a file to this version. Whether it has to be is seen without a transaction.
 * @throws FailureError if another version has written it that this one can't read
 */
export function migrate(connection: Connection): void {
  const found = versionOf(connection);
  if (found === schemaVersion) return;
  if (found === 0) connection.exec(`PRAGMA auto_vacuum = ${incremental}`);
  connection.useWriteAheadLog();
  connection.durable(() => {
    // Another process may have been first.
    for (const sql of migrationFrom(versionOf(connection))) connection.exec(inSqlite(sql));
    connection.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${schemaVersion}`);
  });
}

/** Returns a statement about tables or indexes in the words of SQLite. */
function inSqlite(sql: string): string {
  const words = sql
    .replaceAll('petstock.', '')
    .replace(/\w+ GENERATED ALWAYS AS IDENTITY PRIMARY KEY/, 'INTEGER PRIMARY KEY AUTOINCREMENT')
    .replace(/\b(?:bigint|integer|boolean)\b/g, 'INTEGER')
    .replace(/\bdouble precision\b/g, 'REAL')
    .replace(/\b(?:numeric|jsonb)\b/g, 'TEXT');
  if (!words.startsWith('CREATE TABLE')) return words;
  return /PRIMARY KEY(?! AUTOINCREMENT)/.test(words) ? `${words} STRICT, WITHOUT ROWID` : `${words} STRICT`;
}

/** Whether the file is a state of petstock, or empty. */
export function isState(connection: Connection): boolean {
  // Another process may make its tables between two looks.
  return isMarked(connection) || !hasTables(connection) || isMarked(connection);
}

/** Whether nothing was written to the file yet, or everything was taken out of it. */
export function isEmpty(connection: Connection): boolean {
  return !isMarked(connection) && !hasTables(connection);
}

function isMarked(connection: Connection): boolean {
  return Number(connection.get('PRAGMA application_id')?.application_id) === applicationId;
}

function hasTables(connection: Connection): boolean {
  return connection.get('SELECT 1 FROM sqlite_schema LIMIT 1') !== undefined;
}

/** Returns the version of the tables; 0 if there are none. @throws FailureError if this version can't read them */
function versionOf(connection: Connection): number {
  const version = Number(connection.get('PRAGMA user_version')?.user_version);
  const { file } = connection;
  if (version > schemaVersion) {
    throw new FailureError(
      `${file} was written by a later version of petstock (schema ${version}, not ${schemaVersion}): update petstock, or name another state folder by PETSTOCK_STATE_DIR`,
      { hint: updateHint },
    );
  }
  if (version > 0 && version < oldestVersion) {
    throw new FailureError(
      `${file} was written by a version of petstock that was never released, and is left as it is: move it out of the way`,
      { hint: `mv ${shellWord(file)} ${shellWord(`${file}.old`)}` },
    );
  }
  return version;
}
