import { FailureError } from '../shared/errors.ts';

/**
 * The tables, in the SQL that both engines share. Times are milliseconds since the Unix epoch by the store's clock.
 * - `limits`: what is known of a key. `scope` is a hash of service and key, `version` is unique for each change
 * - `services`: `last_intent` numbers the intents of a service in the order in which they became visible;
 *   `removed_intent` is the highest one that was removed from the history
 * - `outcomes`: one row, the number of the last outcome, in the order in which outcomes became visible
 * - `runs`: `began` is the last intent before the run began
 * - `rows`: `basis` is the last intent that the stock in `before` shows, `intent` that of the last request
 */
export const tables = `
CREATE TABLE limits (
  scope text PRIMARY KEY,
  version text NOT NULL,
  at double precision NOT NULL,
  state text NOT NULL
);
CREATE TABLE services (
  service text PRIMARY KEY,
  last_intent bigint NOT NULL,
  removed_intent bigint NOT NULL DEFAULT 0
);
CREATE TABLE outcomes (last bigint NOT NULL);
INSERT INTO outcomes VALUES (0);
CREATE TABLE runs (
  run text PRIMARY KEY,
  number bigint NOT NULL,
  began bigint NOT NULL,
  at double precision NOT NULL,
  command text NOT NULL,
  env text NOT NULL,
  store text,
  base_url text NOT NULL,
  service text NOT NULL,
  scope text NOT NULL,
  os_user text,
  host text NOT NULL,
  pid integer NOT NULL,
  file text,
  content_hash text,
  reason text,
  undoes text,
  discarded integer NOT NULL DEFAULT 0,
  head_unchanged bigint NOT NULL,
  head_skipped bigint NOT NULL,
  head_not_edited bigint NOT NULL,
  changes bigint NOT NULL,
  units text NOT NULL,
  pets text NOT NULL
);
CREATE UNIQUE INDEX runs_by_number ON runs (number);
CREATE INDEX runs_by_content ON runs (content_hash) WHERE content_hash IS NOT NULL;
CREATE INDEX runs_by_undone ON runs (undoes) WHERE undoes IS NOT NULL;
CREATE TABLE rows (
  run text NOT NULL,
  row integer NOT NULL,
  line integer NOT NULL,
  service text NOT NULL,
  pet_id bigint NOT NULL,
  before bigint,
  after bigint NOT NULL,
  delta bigint,
  basis bigint,
  reason text,
  ref text,
  result text NOT NULL,
  intent bigint,
  in_flight_until double precision,
  quantity bigint,
  error text,
  at double precision,
  outcome bigint,
  PRIMARY KEY (run, row)
);
CREATE INDEX rows_of_pet ON rows (service, pet_id, intent);
CREATE INDEX rows_open ON rows (run) WHERE result IN ('pending', 'sent', 'unknown');
CREATE INDEX rows_in_flight ON rows (service, pet_id) WHERE in_flight_until IS NOT NULL;
CREATE INDEX rows_by_outcome ON rows (outcome) WHERE outcome IS NOT NULL;
CREATE INDEX rows_by_ref ON rows (ref, pet_id) WHERE ref IS NOT NULL;
`;

/** The version of the tables. */
export const schemaVersion = 7;

/** The version of the tables of 0.3.0, the only other one that is migrated. */
export const schemaOf030 = 6;

/** Thrown for a state of another version. Its limits can't be read, so not even a read may go on without it. */
export class OtherVersionError extends FailureError {}

/**
 * @param state the state, for messages, like its path
 * @param found the version of its tables, which is neither this one nor that of 0.3.0
 */
export function otherVersion(state: string, found: number, hint?: string): OtherVersionError {
  return found > schemaVersion
    ? new OtherVersionError(
        `${state} was written by a later version of petstock (schema ${found}, not ${schemaVersion}). Use that version`,
      )
    : new OtherVersionError(
        `${state} was written by a version of petstock before 0.3.0. Run petstock 0.3.0 once: it migrates the state, and this version migrates that`,
        { hint },
      );
}
