/**
 * Times named `at`, `since` and `expires` are milliseconds since the Unix epoch by the clock of the database, which all
 * machines share.
 */
export const tables = `
-- Has a row. A crash empties it, and so does a standby that takes over: then \`begin_epoch\`.
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
  expires double precision NOT NULL
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
  expires double precision,
  PRIMARY KEY (pet_id, service)
);

-- The order of all writes. A number is drawn while the row of the service is locked.
CREATE SEQUENCE petstock.writes;

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
  unknown bigint NOT NULL DEFAULT 0
);
CREATE INDEX runs_by_time ON petstock.runs (at, id);
CREATE INDEX runs_by_end ON petstock.runs (right(run, 4));
CREATE INDEX runs_by_content ON petstock.runs (content_hash, service) WHERE content_hash IS NOT NULL;
CREATE INDEX runs_unfinished ON petstock.runs (at, id) WHERE pending + unknown > 0;

-- Sequence: when it was planned, or its last intent. Touched: the same, or its outcome. Token: of the call that wrote its last intent.
CREATE TABLE petstock.rows (
  run bigint NOT NULL,
  row integer NOT NULL,
  line integer NOT NULL,
  service integer NOT NULL,
  pet_id bigint NOT NULL,
  before bigint,
  after bigint NOT NULL,
  reason text,
  ref text,
  result text NOT NULL,
  quantity bigint,
  error text,
  at double precision,
  expires double precision,
  token text,
  sequence bigint NOT NULL,
  touched bigint NOT NULL,
  undone_by text,
  PRIMARY KEY (run, row)
);
CREATE INDEX rows_of_pet ON petstock.rows (pet_id, service, touched);
CREATE INDEX rows_unknown ON petstock.rows (pet_id, service) WHERE result = 'unknown';
`;
