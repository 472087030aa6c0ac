import { recordedResults } from '../inventory/run-records.ts';
import { FailureError } from '../shared/errors.ts';
import { possibleWrites } from './decide.ts';
import { uniqueName } from './state-database.ts';

/**
 * The tables as they are made anew, in the words of PostgreSQL. Times named `at` and `since` are milliseconds since the Unix epoch by the clock of
 * the state; those named `expires` and `ends` are by its monotonic clock, and count only with the `boot` beside them. PostgreSQL has one clock for
 * both.
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

-- Those who want to read a pet and write what depends on it, in the order in which they came.
CREATE TABLE petstock.line (
  ticket bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  place text NOT NULL UNIQUE,
  service integer NOT NULL,
  pet_id bigint NOT NULL,
  holder text NOT NULL
);
CREATE INDEX line_of_pet ON petstock.line (pet_id, service, ticket);

-- Who writes a pet. Owner: a place in the line or a run. No holder: only a request is still on its way.
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

-- When a time of another start of the machine ends, by the clock of the start that has seen it.
CREATE TABLE petstock.sightings (
  boot text NOT NULL,
  of_boot text NOT NULL,
  expires double precision NOT NULL,
  ends double precision NOT NULL,
  at double precision NOT NULL,
  PRIMARY KEY (boot, of_boot, expires)
);

-- The number of the last write of a pet whose row was removed from the history.
CREATE TABLE petstock.pruned (
  pet_id bigint NOT NULL,
  service integer NOT NULL,
  sequence bigint NOT NULL,
  PRIMARY KEY (pet_id, service)
);

-- One row: the last number that was drawn in the order of all writes. Locked from then to the commit, so numbers become visible in their order.
-- Raised: by how much it was raised without being drawn. State: names this state; another name once an older copy was found in its place.
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
  -- Began: the last number before it. Sequence: its own, by which runs are ordered. Touched: of its last change.
  began bigint NOT NULL,
  sequence bigint NOT NULL,
  touched bigint NOT NULL
);
CREATE INDEX runs_by_sequence ON petstock.runs (sequence);
CREATE INDEX runs_by_token ON petstock.runs (token);
CREATE INDEX runs_by_end ON petstock.runs (substr(run, length(run) - 3));
CREATE INDEX runs_by_content ON petstock.runs (content_hash, service) WHERE content_hash IS NOT NULL;
CREATE INDEX runs_unfinished ON petstock.runs (sequence) WHERE pending + unknown > 0;

-- Sequence: when it was planned, or its last intent. Touched: the same, or its outcome. Token: of the call that wrote its last intent.
-- Expires: until when a request of it may arrive; once it was written, until when a service with replicas may not show that everywhere.
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

/** The version of the tables, since the first release. */
export const schemaVersion = 6;
/** The oldest version that can be read: that of 0.2.0 as it was cut in the changelog. */
const oldestSchema = 3;

/** Returns the statements that make the tables. */
export function createTables(): string[] {
  return [...statementsOf(tables), namingState()];
}

/** Returns those that make one table and its indexes. */
export function makingTable(name: string): string[] {
  const pattern = new RegExp(`^CREATE (?:TABLE|INDEX \\w+ ON) petstock\\.${name} `);
  return statementsOf(tables).filter((sql) => pattern.test(sql));
}

function statementsOf(script: string): string[] {
  const bare = script.replace(/^\s*--.*$/gm, '');
  return bare.split(';').flatMap((sql) => (sql.trim() === '' ? [] : [sql.trim()]));
}

/** One that had no name gets one that a copy of it would get, too. */
const namingState = () =>
  `UPDATE petstock.sequence SET state = coalesce((SELECT run FROM petstock.runs ORDER BY id LIMIT 1), '${uniqueName()}')`;

/** Returns the statements that bring the sequence of a version to this one. */
export function upgradingSequence(version: number): string[] {
  if (version > 4) return [];
  return [
    'ALTER TABLE petstock.sequence ADD COLUMN raised bigint NOT NULL DEFAULT 0',
    "ALTER TABLE petstock.sequence ADD COLUMN state text NOT NULL DEFAULT ''",
    namingState(),
  ];
}

/** Brings the runs of version 4 or 5 to this one. */
export const upgradingRuns = 'ALTER TABLE petstock.runs ADD COLUMN discarded boolean';

/**
 * Throws FailureError if this version can't read tables of another one. Those of version 3 to 5 can be brought to this one.
 * @param state its name for messages
 * @param aside how it is put aside, and a command for that
 */
export function requireReadable(version: number, state: string, aside: { way: string; hint: string }): void {
  if (version >= oldestSchema && version <= schemaVersion) return;
  if (version > schemaVersion) {
    throw new FailureError(
      `${state} was written by a later version of petstock (schema ${version}, not ${schemaVersion}): use that version`,
    );
  }
  throw new FailureError(
    `${state} was written by a version of petstock that was never released, and is left as it is: ${aside.way}. ${lostAside}`,
    { hint: aside.hint },
  );
}

/** What nobody knows any more once a state was put aside. */
export const lostAside =
  "Without it runs that are not finished can't be resumed, and a file of deltas that was applied is not known again";

/** Results of a row that has changed the stock, or may have, for `IN (…)`. */
export const possibleResults = possibleWrites.map((result) => `'${result}'`).join();
