import { recordedResults } from '../../inventory/run-records.ts';
import type { Clock } from '../../shared/clock.ts';
import { UnavailableError } from '../../shared/errors.ts';
import { shellWord } from '../../shared/hint.ts';
import {
  createTables,
  makingTable,
  requireReadable,
  schemaVersion,
  upgradingRuns,
  upgradingSequence,
} from '../tables.ts';
import type { SqliteConnection } from './connection.ts';

/** `psst`, in ASCII: says whose file it is. */
const applicationId = 0x70737374;

/**
 * Makes the tables in a file that has none, and brings those of an older version to this one. Whether that is needed is seen without a transaction.
 * @throws FailureError if another version has written it that this one can't read, UnavailableError while a process of an older one writes by it
 */
export function makeTables(connection: SqliteConnection, clock: Pick<Clock, 'boot' | 'monotonic'>): void {
  const found = versionOf(connection);
  if (found === schemaVersion) return;
  // Free pages are given back when that is asked for.
  if (found === 0) connection.exec('PRAGMA auto_vacuum = INCREMENTAL');
  connection.useWriteAheadLog();
  connection.durable(() => {
    // Another process may have been first.
    const version = versionOf(connection);
    if (version === schemaVersion) return;
    if (version > 0) requireNobody(connection, clock);
    for (const sql of version === 0 ? createTables() : upgradeFrom(version)) connection.exec(inSqlite(sql));
    connection.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${schemaVersion}`);
  });
}

/** A process of an older version goes by its own tables until it ends. */
function requireNobody(connection: SqliteConnection, clock: Pick<Clock, 'boot' | 'monotonic'>): void {
  const sql = 'SELECT 1 FROM presence WHERE boot = ? AND expires > ? LIMIT 1';
  if (connection.get(sql, clock.boot(), clock.monotonic()) === undefined) return;
  throw new UnavailableError(
    `An older version of petstock is writing by the state in ${connection.file}: try again when it has ended`,
    { hint: 'petstock state info' },
  );
}

/** Version 3 has columns of `runs` without defaults, which can't be given to them, and other indexes. */
function upgradeFrom(version: number): string[] {
  if (version > 3) return [...upgradingSequence(version), upgradingRuns];
  const columns = runColumns.join();
  const [table = '', ...indexes] = makingTable('runs');
  const dropped = ['runs_by_time', 'runs_by_end', 'runs_by_content', 'runs_unfinished', 'runs_by_sequence'];
  return [
    'ALTER TABLE petstock.runs RENAME TO old_runs',
    ...[...dropped, 'runs_by_token', 'rows_by_change'].map((name) => `DROP INDEX IF EXISTS ${name}`),
    table,
    `INSERT INTO petstock.runs (id, run, token, ${columns}) SELECT id, run, coalesce(token, run), ${columns} FROM old_runs`,
    'DROP TABLE old_runs',
    ...indexes,
    ...makingTable('rows').filter((sql) => sql.includes('rows_by_change')),
    ...upgradingSequence(version),
  ];
}

/** What a run has besides its names. */
const runColumns: readonly string[] = [
  ...['at', 'command', 'env', 'store', 'base_url', 'service', 'scope', 'os_user', 'host', 'file', 'content_hash'],
  ...['has_deltas', 'reason', 'undoes', 'holder', 'head_unchanged', 'head_skipped', 'head_not_edited', 'changes'],
  ...['units', 'pets', 'undone', 'undone_by', ...recordedResults, 'began', 'sequence', 'touched'],
];

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
export function contentOf(connection: SqliteConnection): 'nothing' | 'a state' | 'something else' {
  const isMarked = () => Number(connection.get('PRAGMA application_id')?.application_id) === applicationId;
  if (isMarked()) return 'a state';
  if (connection.get('SELECT 1 FROM sqlite_schema LIMIT 1') === undefined) return 'nothing';
  // Another process may have made its tables between two looks.
  return isMarked() ? 'a state' : 'something else';
}

/** Returns the version of the tables; 0 if there are none. @throws FailureError if there are those of a version that this one can't read */
function versionOf(connection: SqliteConnection): number {
  const version = Number(connection.get('PRAGMA user_version')?.user_version);
  const { file } = connection;
  const hint = `mv ${shellWord(file)} ${shellWord(`${file}.old`)}`;
  if (version !== 0) requireReadable(version, file, { way: 'move it out of the way', hint });
  return version;
}
