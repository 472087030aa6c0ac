/**
 * The schema as it is made anew. Times named `at`, `since` and `expires` are milliseconds since the Unix epoch by the clock of the database,
 * which all machines share; `boot` names that clock. There are no functions: the rules are in `state/decide.ts`.
 */
export const tables = `
-- Has a row. A crash empties it, and so does a standby that takes over: then numbers begin anew above all that were drawn before.
CREATE UNLOGGED TABLE petstock.epoch (
  since double precision NOT NULL
);
INSERT INTO petstock.epoch VALUES (extract(epoch FROM clock_timestamp()) * 1000);

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

-- When a time of another start of a machine ends. Here one clock is for all, so it stays empty.
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
CREATE TABLE petstock.sequence (
  last bigint NOT NULL
);
INSERT INTO petstock.sequence VALUES (0);

CREATE TABLE petstock.runs (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run text NOT NULL UNIQUE,
  token text NOT NULL,
  at double precision NOT NULL,
  command text NOT NULL,
  env text NOT NULL,
  store text,
  base_url text NOT NULL,
  service integer NOT NULL REFERENCES petstock.services,
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
  pending bigint NOT NULL DEFAULT 0,
  applied bigint NOT NULL DEFAULT 0,
  unchanged bigint NOT NULL DEFAULT 0,
  failed bigint NOT NULL DEFAULT 0,
  conflict bigint NOT NULL DEFAULT 0,
  differs bigint NOT NULL DEFAULT 0,
  unknown bigint NOT NULL DEFAULT 0,
  -- Began: the last number before it. Sequence: its own, by which runs are ordered. Touched: of its last change.
  began bigint NOT NULL,
  sequence bigint NOT NULL,
  touched bigint NOT NULL
);
CREATE INDEX runs_by_sequence ON petstock.runs (sequence);
CREATE INDEX runs_by_token ON petstock.runs (token);
CREATE INDEX runs_by_time ON petstock.runs (at, id);
CREATE INDEX runs_by_end ON petstock.runs (substr(run, length(run) - 3));
CREATE INDEX runs_by_content ON petstock.runs (content_hash, service) WHERE content_hash IS NOT NULL;
CREATE INDEX runs_unfinished ON petstock.runs (sequence) WHERE pending + unknown > 0;

-- Sequence: when it was planned, or its last intent. Touched: the same, or its outcome. Token: of the call that wrote its last intent.
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
CREATE INDEX rows_by_change ON petstock.rows (touched);
`;

/** What brings a database of schema 1 or 2 to schema 3: its functions held the rules. */
export const upgrade = `
DO $$ DECLARE old regprocedure; BEGIN
  FOR old IN SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = 'petstock'::regnamespace LOOP EXECUTE 'DROP FUNCTION ' || old; END LOOP;
END $$;
CREATE TABLE petstock.sequence (last bigint NOT NULL);
INSERT INTO petstock.sequence SELECT greatest(last_value, (SELECT coalesce(max(id), 0) FROM petstock.runs)) FROM petstock.writes;
DROP SEQUENCE petstock.writes;
CREATE TABLE petstock.sightings (
  boot text NOT NULL, of_boot text NOT NULL, expires double precision NOT NULL, ends double precision NOT NULL, at double precision NOT NULL,
  PRIMARY KEY (boot, of_boot, expires)
);
CREATE TABLE petstock.pruned (pet_id bigint NOT NULL, service integer NOT NULL, sequence bigint NOT NULL, PRIMARY KEY (pet_id, service));
DELETE FROM petstock.presence;
ALTER TABLE petstock.presence ADD COLUMN boot text NOT NULL, ADD COLUMN lasts double precision NOT NULL;
DELETE FROM petstock.line;
DELETE FROM petstock.leases WHERE run IS NULL;
ALTER TABLE petstock.leases ADD COLUMN boot text DEFAULT 'database', ADD COLUMN lasts double precision;
UPDATE petstock.leases SET holder = NULL;
ALTER TABLE petstock.rows ADD COLUMN boot text DEFAULT 'database', ADD COLUMN lasts double precision, ADD COLUMN IF NOT EXISTS delta bigint;
ALTER TABLE petstock.runs ADD COLUMN IF NOT EXISTS head_skipped bigint NOT NULL DEFAULT 0, ADD COLUMN IF NOT EXISTS head_not_edited bigint NOT NULL DEFAULT 0;
ALTER TABLE petstock.runs ADD COLUMN began bigint, ADD COLUMN sequence bigint, ADD COLUMN touched bigint;
UPDATE petstock.runs SET holder = NULL, sequence = id, began = coalesce((SELECT min(sequence) - 1 FROM petstock.rows WHERE rows.run = runs.id), 0),
  touched = coalesce((SELECT max(touched) FROM petstock.rows WHERE rows.run = runs.id), 0);
ALTER TABLE petstock.runs ALTER COLUMN began SET NOT NULL, ALTER COLUMN sequence SET NOT NULL, ALTER COLUMN touched SET NOT NULL;
DROP INDEX petstock.runs_by_end, petstock.runs_unfinished;
CREATE INDEX runs_by_end ON petstock.runs (substr(run, length(run) - 3));
CREATE INDEX runs_unfinished ON petstock.runs (sequence) WHERE pending + unknown > 0;
CREATE INDEX runs_by_sequence ON petstock.runs (sequence);
CREATE INDEX runs_by_token ON petstock.runs (token);
CREATE INDEX rows_by_change ON petstock.rows (touched);
`;
