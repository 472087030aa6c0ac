import { FailureError, UnavailableError } from '../../shared/errors.ts';
import { otherFolderHint } from '../other-folder.ts';
import { type Connection, incremental } from './connection.ts';
import type { Row } from './engine.ts';

/** `psst`, in ASCII: says whose file it is. */
const applicationId = 0x70737374;

/**
 * How a file of one version becomes one of the next. What has been released is never changed: a change is another step.
 *
 * Times named `at` and `since` are milliseconds since the Unix epoch; those named `expires` are by the monotonic clock, and
 * count only with the `boot` beside them.
 */
const steps: readonly string[] = [
  `
  CREATE TABLE limits (
    scope TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    state TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE presence (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    identity TEXT NOT NULL,
    command TEXT NOT NULL,
    since INTEGER NOT NULL,
    boot TEXT NOT NULL,
    expires REAL NOT NULL
  ) STRICT;

  CREATE TABLE services (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
  ) STRICT;

  -- Those who want to read a pet and write what depends on it, in the order in which they came.
  CREATE TABLE line (
    ticket INTEGER PRIMARY KEY AUTOINCREMENT,
    service INTEGER NOT NULL,
    pet_id INTEGER NOT NULL,
    holder INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX line_of_pet ON line (pet_id, service, ticket);

  -- Who writes a pet. Owner: a place in the line (place-1) or a run. No holder: only a request is still on its way.
  CREATE TABLE leases (
    pet_id INTEGER NOT NULL,
    service INTEGER NOT NULL,
    owner TEXT NOT NULL,
    run TEXT,
    holder INTEGER,
    boot TEXT,
    expires REAL,
    PRIMARY KEY (pet_id, service)
  ) STRICT, WITHOUT ROWID;

  -- One row. The last number that was given out in the order of all writes.
  CREATE TABLE sequence (last INTEGER NOT NULL) STRICT;
  INSERT INTO sequence VALUES (0);

  CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    command TEXT NOT NULL,
    env TEXT NOT NULL,
    store TEXT,
    base_url TEXT NOT NULL,
    service INTEGER NOT NULL,
    scope TEXT NOT NULL,
    user TEXT,
    host TEXT NOT NULL,
    file TEXT,
    content_hash TEXT,
    has_deltas INTEGER,
    reason TEXT,
    undoes TEXT,
    holder INTEGER,
    head_unchanged INTEGER NOT NULL,
    changes INTEGER NOT NULL,
    units TEXT NOT NULL,
    pets TEXT NOT NULL,
    undone INTEGER NOT NULL DEFAULT 0,
    undone_by TEXT NOT NULL DEFAULT '[]',
    pending INTEGER NOT NULL,
    applied INTEGER NOT NULL,
    unchanged INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    conflict INTEGER NOT NULL,
    differs INTEGER NOT NULL,
    unknown INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX runs_by_time ON runs (at, id);
  CREATE INDEX runs_by_end ON runs (substr(run, -4));
  CREATE INDEX runs_by_content ON runs (content_hash, service) WHERE content_hash IS NOT NULL;
  CREATE INDEX runs_unfinished ON runs (at, id) WHERE pending + unknown > 0;

  -- Sequence: when it was planned, or its last intent. Touched: the same, or its outcome.
  CREATE TABLE rows (
    run INTEGER NOT NULL,
    row INTEGER NOT NULL,
    line INTEGER NOT NULL,
    service INTEGER NOT NULL,
    pet_id INTEGER NOT NULL,
    before INTEGER,
    after INTEGER NOT NULL,
    reason TEXT,
    ref TEXT,
    result TEXT NOT NULL,
    quantity INTEGER,
    error TEXT,
    at INTEGER,
    boot TEXT,
    expires REAL,
    sequence INTEGER NOT NULL,
    touched INTEGER NOT NULL,
    undone_by TEXT,
    PRIMARY KEY (run, row)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX rows_of_pet ON rows (pet_id, service, touched);
  CREATE INDEX rows_unknown ON rows (pet_id, service) WHERE result = 'unknown';
  `,
  `
  ALTER TABLE rows ADD COLUMN delta INTEGER;
  ALTER TABLE runs ADD COLUMN head_skipped INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE runs ADD COLUMN head_not_edited INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX rows_by_time ON rows (service, touched) WHERE result IN ('applied', 'differs', 'unknown');
  `,
  `
  -- Processes are told apart by a number that each draws for itself. Lasts: how far ahead a time lay when it was written.
  DROP TABLE presence;
  CREATE TABLE presence (
    id TEXT PRIMARY KEY,
    identity TEXT NOT NULL,
    os_user TEXT,
    command TEXT NOT NULL,
    since INTEGER NOT NULL,
    boot TEXT NOT NULL,
    expires REAL NOT NULL,
    lasts REAL NOT NULL
  ) STRICT, WITHOUT ROWID;

  DROP TABLE line;
  CREATE TABLE line (
    ticket INTEGER PRIMARY KEY AUTOINCREMENT,
    place TEXT NOT NULL UNIQUE,
    service INTEGER NOT NULL,
    pet_id INTEGER NOT NULL,
    holder TEXT NOT NULL
  ) STRICT;
  CREATE INDEX line_of_pet ON line (pet_id, service, ticket);

  -- When a time of another start of the machine ends, by the clock of the start that has seen it.
  CREATE TABLE sightings (
    boot TEXT NOT NULL,
    of_boot TEXT NOT NULL,
    expires REAL NOT NULL,
    ends REAL NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (boot, of_boot, expires)
  ) STRICT, WITHOUT ROWID;

  -- The number of the last write of a pet whose row was removed from the history.
  CREATE TABLE pruned (
    pet_id INTEGER NOT NULL,
    service INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (pet_id, service)
  ) STRICT, WITHOUT ROWID;

  ALTER TABLE leases ADD COLUMN lasts REAL;
  UPDATE leases SET holder = NULL;
  DELETE FROM leases WHERE run IS NULL;

  -- Began: the last number before it. Sequence: its own, by which runs are ordered. Touched: of its last change.
  ALTER TABLE runs RENAME COLUMN user TO os_user;
  ALTER TABLE runs ADD COLUMN token TEXT;
  ALTER TABLE runs ADD COLUMN began INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE runs ADD COLUMN sequence INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE runs ADD COLUMN touched INTEGER NOT NULL DEFAULT 0;
  UPDATE runs SET holder = NULL, sequence = id,
    began = coalesce((SELECT min(sequence) - 1 FROM rows WHERE rows.run = runs.id), 0),
    touched = coalesce((SELECT max(touched) FROM rows WHERE rows.run = runs.id), 0);
  UPDATE sequence SET last = max(last, (SELECT coalesce(max(id), 0) FROM runs));
  DROP INDEX runs_by_end;
  CREATE INDEX runs_by_end ON runs (substr(run, length(run) - 3));
  DROP INDEX runs_unfinished;
  CREATE INDEX runs_unfinished ON runs (sequence) WHERE pending + unknown > 0;
  CREATE INDEX runs_by_sequence ON runs (sequence);
  CREATE INDEX runs_by_token ON runs (token) WHERE token IS NOT NULL;

  -- Token: of the call that wrote its last intent.
  ALTER TABLE rows ADD COLUMN lasts REAL;
  ALTER TABLE rows ADD COLUMN token TEXT;
  DROP INDEX rows_by_time;
  CREATE INDEX rows_by_change ON rows (touched);
  `,
];

export const schemaVersion = steps.length;

/**
 * Brings a file to this version. Whether it has to be is seen without a transaction.
 * @param isInUse whether a process writes by the tables of an older version, given the columns `boot`, `expires` and `identity` of all that did
 * @throws FailureError if a later version has written it, UnavailableError while a process of an older version writes by it
 */
export function migrate(connection: Connection, isInUse: (processes: readonly Row[]) => boolean): void {
  const found = versionOf(connection);
  if (found === schemaVersion) return;
  if (found === 0) connection.exec(`PRAGMA auto_vacuum = ${incremental}`);
  connection.useWriteAheadLog();
  connection.durable(() => {
    // Another process may have been first.
    const version = versionOf(connection);
    if (version === schemaVersion) return;
    if (version > 0 && isInUse(connection.all('SELECT boot, expires, identity FROM presence'))) {
      throw new UnavailableError(
        `An older version of petstock is writing by the state in ${connection.file}: try again when it has ended`,
        { hint: 'petstock state info' },
      );
    }
    for (const step of steps.slice(version)) connection.exec(step);
    connection.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${schemaVersion}`);
  });
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

/** @throws FailureError where a later version has written it */
function versionOf(connection: Connection): number {
  const version = Number(connection.get('PRAGMA user_version')?.user_version);
  if (version > schemaVersion) {
    throw new FailureError(
      `${connection.file} was written by a later version of petstock: update petstock, or use another state folder`,
      { hint: otherFolderHint },
    );
  }
  return version;
}
