import { shellWord } from '../../shared/where.ts';
import { makingTables, requireReadable, schemaVersion } from '../tables.ts';
import type { Connection } from './connection.ts';

/** `psst`, in ASCII: says whose file it is. */
const applicationId = 0x70737374;

/**
 * Makes the tables in a file that has none. Whether it has is seen without a transaction.
 * @throws FailureError if another version has written it that this one can't read
 */
export function makeTables(connection: Connection): void {
  if (!isNew(connection)) return;
  // Free pages are given back when that is asked for.
  connection.exec('PRAGMA auto_vacuum = INCREMENTAL');
  connection.useWriteAheadLog();
  connection.durable(() => {
    // Another process may have been first.
    if (!isNew(connection)) return;
    for (const sql of makingTables()) connection.exec(inSqlite(sql));
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

/** Returns what a file holds: nothing if nothing was written to it yet, or everything was taken out of it. */
export function contentOf(connection: Connection): 'nothing' | 'a state' | 'something else' {
  const isMarked = () => Number(connection.get('PRAGMA application_id')?.application_id) === applicationId;
  if (isMarked()) return 'a state';
  if (connection.get('SELECT 1 FROM sqlite_schema LIMIT 1') === undefined) return 'nothing';
  // Another process may have made its tables between two looks.
  return isMarked() ? 'a state' : 'something else';
}

/** Reports whether there are no tables. @throws FailureError if there are those of a version that this one can't read */
function isNew(connection: Connection): boolean {
  const version = Number(connection.get('PRAGMA user_version')?.user_version);
  const { file } = connection;
  const hint = `mv ${shellWord(file)} ${shellWord(`${file}.old`)}`;
  if (version !== 0) requireReadable(version, file, { way: 'move it out of the way', hint });
  return version === 0;
}
