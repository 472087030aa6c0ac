import { possibleWrites, recordedResults } from '../inventory/run-records.ts';
import { FailureError } from '../shared/errors.ts';
import { uniqueName } from './state-database.ts';

/**
 * The current tables, in PostgreSQL's dialect. Times named `at` and `since` are milliseconds since the Unix epoch by
 * the state's clock. Times named `expires` and `ends` are by its monotonic clock, and are comparable only within the
 * `boot` beside them. In PostgreSQL both are the same clock.
 */
const tables = `
CREATE TABLE petstock.limits (
  scope text PRIMARY KEY,
  version bigint NOT NULL,
  state text NOT NULL
);

CREATE TABLE petstock.presence (
  id text PRIMARY KEY,
  identity text NOT NULL,
  os_user text,
  command text NOT NULL,
  since double precision NOT NULL,
  boot text NOT NULL,
  expires double precision NOT NULL,
  lasts double precision NOT NULL
);

CREATE TABLE petstock.services (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE
);

-- The queues of pet locks, in the order of arrival.
CREATE TABLE petstock.line (
  ticket bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  place text NOT NULL UNIQUE,
  service integer NOT NULL,
  pet_id bigint NOT NULL,
  holder text NOT NULL
);
CREATE INDEX line_of_pet ON petstock.line (pet_id, service, ticket);

-- The leases of pets. Owner: a pet lock or a run. Without a holder, only a request is still in flight.
CREATE TABLE petstock.leases (
  pet_id bigint NOT NULL,
  service integer NOT NULL,
  owner text NOT NULL,
  run text,
  holder text,
  boot text,
  expires double precision,
  lasts double precision,
  PRIMARY KEY (pet_id, service)
);

-- The times of other boots: when each ends, by the clock of the boot that has observed it.
-- If of_boot is empty, expires is a sequence number: writes of other boots up to it are not recent after ends.
CREATE TABLE petstock.sightings (
  boot text NOT NULL,
  of_boot text NOT NULL,
  expires double precision NOT NULL,
  ends double precision NOT NULL,
  at double precision NOT NULL,
  PRIMARY KEY (boot, of_boot, expires)
);

-- The sequence number of a pet's last write that was removed from the history.
CREATE TABLE petstock.pruned (
  pet_id bigint NOT NULL,
  service integer NOT NULL,
  sequence bigint NOT NULL,
  PRIMARY KEY (pet_id, service)
);

-- One row: the last allocated sequence number. Locked until the commit, so numbers become visible in their order.
-- Raised: by how much it was raised without an allocation. State: the name of this state, renewed when an older copy is found.
CREATE TABLE petstock.sequence (
  last bigint NOT NULL,
  raised bigint NOT NULL DEFAULT 0,
  state text NOT NULL DEFAULT ''
);
INSERT INTO petstock.sequence (last) VALUES (0);

CREATE TABLE petstock.runs (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run text NOT NULL UNIQUE,
  token text NOT NULL,
  at double precision NOT NULL,
  command text NOT NULL,
  env text NOT NULL,
  store text,
  base_url text NOT NULL,
  service integer NOT NULL,
  scope text NOT NULL,
  os_user text,
  host text NOT NULL,
  file text,
  content_hash text,
  has_deltas boolean,
  reason text,
  undoes text,
  holder text,
  head_unchanged bigint NOT NULL,
  head_skipped bigint NOT NULL DEFAULT 0,
  head_not_edited bigint NOT NULL DEFAULT 0,
  changes bigint NOT NULL DEFAULT 0,
  units numeric NOT NULL DEFAULT 0,
  pets jsonb NOT NULL DEFAULT '[]',
  undone bigint NOT NULL DEFAULT 0,
  undone_by jsonb NOT NULL DEFAULT '[]',
  discarded boolean,
  ${recordedResults.map((result) => `${result} bigint NOT NULL DEFAULT 0`).join()},
  -- Began: the last sequence number before the run. Sequence: the run's own, by which runs are ordered. Touched: that of its last change.
  began bigint NOT NULL,
  sequence bigint NOT NULL,
  touched bigint NOT NULL
);
CREATE INDEX runs_by_sequence ON petstock.runs (sequence);
CREATE INDEX runs_by_token ON petstock.runs (token);
CREATE INDEX runs_by_end ON petstock.runs (substr(run, length(run) - 3));
CREATE INDEX runs_by_content ON petstock.runs (content_hash, service) WHERE content_hash IS NOT NULL;
CREATE INDEX runs_unfinished ON petstock.runs (sequence) WHERE pending + unknown > 0;

-- Sequence: the number of its plan or last intent. Touched: the same, or that of its outcome. Token: the call that wrote its last intent.
-- Expires: when its request can no longer be in flight; once written, when all replicas of the service should show it.
-- Run: negative if the run was removed and the row is kept to recognize the stock of a lagging replica.
CREATE TABLE petstock.rows (
  run bigint NOT NULL,
  row integer NOT NULL,
  line integer NOT NULL,
  service integer NOT NULL,
  pet_id bigint NOT NULL,
  before bigint,
  after bigint NOT NULL,
  delta bigint,
  reason text,
  ref text,
  result text NOT NULL,
  quantity bigint,
  error text,
  at double precision,
  boot text,
  expires double precision,
  lasts double precision,
  token text,
  sequence bigint NOT NULL,
  touched bigint NOT NULL,
  undone_by text,
  PRIMARY KEY (run, row)
);
CREATE INDEX rows_of_pet ON petstock.rows (pet_id, service, touched);
CREATE INDEX rows_unknown ON petstock.rows (pet_id, service) WHERE result = 'unknown';
CREATE INDEX rows_by_change ON petstock.rows (touched) WHERE result NOT IN ('pending', 'unknown');
`;

export const schemaVersion = 6;
/**
 * The version that petstock 0.2.0 wrote: the only earlier version that was released, and so the only version to
 * upgrade.
 */
const releasedSchema = 3;

export function createTables(): string[] {
  return [...statementsOf(tables), nameState()];
}

/** Returns the statements that create one table and its indexes. */
export function createTable(name: string): string[] {
  const pattern = new RegExp(`^CREATE (?:TABLE|INDEX \\w+ ON) petstock\\.${name} `);
  return statementsOf(tables).filter((sql) => pattern.test(sql));
}

function statementsOf(script: string): string[] {
  const bare = script.replace(/^\s*--.*$/gm, '');
  return bare.split(';').flatMap((sql) => (sql.trim() === '' ? [] : [sql.trim()]));
}

/**
 * Returns a statement that names the state. A state with runs is named after the first one, so that every copy of it
 * gets the same name.
 */
const nameState = () =>
  `UPDATE petstock.sequence SET state = coalesce((SELECT run FROM petstock.runs ORDER BY id LIMIT 1), '${uniqueName()}')`;

/** Returns the statements that upgrade the sequence of version 3. */
export function upgradeSequence(): string[] {
  return [
    'ALTER TABLE petstock.sequence ADD COLUMN raised bigint NOT NULL DEFAULT 0',
    "ALTER TABLE petstock.sequence ADD COLUMN state text NOT NULL DEFAULT ''",
    nameState(),
  ];
}

/**
 * @param state the name of the state, for messages
 * @param aside how to put the state aside, with a command for it
 * @throws FailureError if tables of this version can't be read
 */
export function requireReadable(version: number, state: string, aside: { way: string; hint: string }): void {
  if (version === schemaVersion || version === releasedSchema) return;
  if (version > schemaVersion) {
    throw new FailureError(
      `${state} was written by a later version of petstock (schema ${version}, not ${schemaVersion}). Use that version`,
    );
  }
  throw new FailureError(
    `${state} was written by a version of petstock that was never released. It was not changed. To begin a new one, ${aside.way}. ${lostAside}`,
    { hint: aside.hint },
  );
}

/** The consequence of putting a state aside, for messages. */
export const lostAside =
  "Without it, unfinished runs can't be resumed, and files of deltas that were already applied are not recognized";

/** SQL list for `IN (…)`: results of a row that changed the stock, or may have. */
export const possibleResults = possibleWrites.map((result) => `'${result}'`).join();
