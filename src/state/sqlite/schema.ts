import { recordedResults } from '../../inventory/run-records.ts';
import type { Clock } from '../../shared/clock.ts';
import { UnavailableError } from '../../shared/errors.ts';
import { shellWord } from '../../shared/hint.ts';
import { createTable, createTables, requireReadable, schemaVersion, upgradeSequence } from '../tables.ts';
import type { SqliteConnection } from './connection.ts';

/** Identifies files of petstock: `psst` in ASCII. */
const applicationId = 0x70737374;

/**
 * Creates the tables in an empty file, and upgrades older tables. Needs no transaction if there is nothing to do.
 * @throws FailureError if the tables have a version that can't be read, UnavailableError while a process of an older
 * version is using the file
 */
export function makeTables(connection: SqliteConnection, clock: Pick<Clock, 'boot' | 'monotonic'>): void {
  const found = versionOf(connection);
  if (found === schemaVersion) return;
  // Free pages are returned to the system on request.
  if (found === 0) connection.exec('PRAGMA auto_vacuum = INCREMENTAL');
  connection.useWriteAheadLog();
  connection.durable(() => {
    // Another process may have created or upgraded the tables first.
    const version = versionOf(connection);
    if (version === schemaVersion) return;
    if (version > 0) requireNoneOlder(connection, clock);
    for (const sql of version === 0 ? createTables() : upgrade()) connection.exec(inSqlite(sql));
    connection.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${schemaVersion}`);
  });
}

/**
 * @throws UnavailableError while a process of an older version is present, because it needs the older tables
 */
function requireNoneOlder(connection: SqliteConnection, clock: Pick<Clock, 'boot' | 'monotonic'>): void {
  const sql = 'SELECT 1 FROM presence WHERE boot = ? AND expires > ? LIMIT 1';
  if (connection.get(sql, clock.boot(), clock.monotonic()) === undefined) return;
  throw new UnavailableError(
    `An older version of petstock is using the state in ${connection.file}. Try again when it has ended`,
  );
}

/**
 * Returns the statements that upgrade version 3. Its table `runs` lacks defaults, and SQLite can't add a default to a
 * column. It also has other indexes.
 */
function upgrade(): string[] {
  const columns = runColumns.join();
  const [table = '', ...indexes] = createTable('runs');
  const dropped = ['runs_by_time', 'runs_by_end', 'runs_by_content', 'runs_unfinished', 'runs_by_sequence'];
  return [
    'ALTER TABLE petstock.runs RENAME TO old_runs',
    ...[...dropped, 'runs_by_token', 'rows_by_change'].map((name) => `DROP INDEX IF EXISTS ${name}`),
    table,
    `INSERT INTO petstock.runs (id, run, token, ${columns}) SELECT id, run, coalesce(token, run), ${columns} FROM old_runs`,
    'DROP TABLE old_runs',
    ...indexes,
    ...createTable('rows').filter((sql) => sql.includes('rows_by_change')),
    ...upgradeSequence(),
  ];
}

/** The columns of `runs` that an upgrade copies unchanged. */
const runColumns: readonly string[] = [
  ...['at', 'command', 'env', 'store', 'base_url', 'service', 'scope', 'os_user', 'host', 'file', 'content_hash'],
  ...['has_deltas', 'reason', 'undoes', 'holder', 'head_unchanged', 'head_skipped', 'head_not_edited', 'changes'],
  ...['units', 'pets', 'undone', 'undone_by', ...recordedResults, 'began', 'sequence', 'touched'],
];

/** Translates a statement about tables or indexes to SQLite's dialect. */
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

/** Returns what a file contains: `nothing` if it was never written, or if everything was removed. */
export function contentOf(connection: SqliteConnection): 'nothing' | 'a state' | 'something else' {
  const isMarked = () => Number(connection.get('PRAGMA application_id')?.application_id) === applicationId;
  if (isMarked()) return 'a state';
  if (connection.get('SELECT 1 FROM sqlite_schema LIMIT 1') === undefined) return 'nothing';
  // Another process may have created its tables between the two checks.
  return isMarked() ? 'a state' : 'something else';
}

/**
 * Returns the version of the tables; 0 if there are none.
 * @throws FailureError if this petstock can't use tables of that version
 */
function versionOf(connection: SqliteConnection): number {
  const version = Number(connection.get('PRAGMA user_version')?.user_version);
  const { file } = connection;
  const hint = `mv ${shellWord(file)} ${shellWord(`${file}.old`)}`;
  if (version !== 0) requireReadable(version, file, { way: 'move it out of the way', hint });
  return version;
}
