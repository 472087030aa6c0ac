import type { RowError } from '../inventory/change.ts';
import { errorJsonOf } from './change-rows.ts';

/** A run, as the history of the state describes it. */
export interface RunFacts {
  readonly run: string;
  /** When it began: milliseconds since the Unix epoch. */
  readonly at: number;
  readonly env: string;
  readonly store: string | undefined;
  readonly baseUrl: string;
  readonly command: string;
  readonly user: string | undefined;
  readonly host: string;
  readonly file?: string | undefined;
  readonly reason?: string | undefined;
  readonly undoes?: string | undefined;
  /** The runs that took back rows of it, and how many rows. */
  readonly undoneBy: readonly string[];
  readonly undone: number;
  readonly changes: number;
  readonly units: bigint;
  /** The first of its pets. */
  readonly pets: readonly bigint[];
  readonly counts: Readonly<Record<RowFacts['result'], number>>;
  readonly state: 'running' | 'done' | 'incomplete';
}

/** A row of a recorded run. */
export interface RowFacts {
  readonly row: number;
  readonly line: number;
  readonly petId: bigint;
  readonly before: number | undefined;
  readonly after: number;
  readonly result: 'pending' | 'applied' | 'unchanged' | 'failed' | 'conflict' | 'differs' | 'unknown';
  /** The stock that the service answered, or that was found. */
  readonly quantity: number | undefined;
  readonly error: RowError | undefined;
  readonly reason: string | undefined;
  readonly ref: string | undefined;
  /** Of its last intent or outcome: milliseconds since the Unix epoch. */
  readonly at: number | undefined;
  readonly undoneBy: string | undefined;
}

/** What was written where, by whom; null where a field is absent. */
export function runIdentity({ run, at, env, baseUrl, command, host, ...facts }: RunFacts) {
  const { store = null, user = null, file = null, reason = null, undoes = null } = facts;
  return { run, at: exactTime(at), env, store, baseUrl, command, user, host, file, reason, undoes };
}

export function runCounts({ counts }: RunFacts) {
  const { applied, unchanged, failed, conflict, unknown, differs, pending } = counts;
  // Rows that were not attempted are pending here; a report has both, and so a reader of both finds the same fields.
  return { applied, unchanged, failed, conflict, notAttempted: 0, unknown, differs, pending };
}

/** A run in JSON. */
export function runJson(facts: RunFacts) {
  const { undoneBy, changes, units, pets, state } = facts;
  return { ...runIdentity(facts), undoneBy, changes, units, pets, counts: runCounts(facts), state };
}

/** What `history export` says of the run of a row. */
export function exportIdentity(run: RunFacts) {
  const { at: runAt, reason: _reason, ...facts } = runIdentity(run);
  return { ...facts, runAt };
}

/** A row in JSON; an error only where there is one. */
export function rowJson(facts: RowFacts) {
  const { row, line, petId, before = null, after, result, quantity = null, error, reason = null, ref = null } = facts;
  const at = facts.at === undefined ? null : exactTime(facts.at);
  return { row, line, petId, before, after, result, quantity, error: errorJsonOf(error), reason, ref, at };
}

/** ISO 8601, UTC, to the millisecond. */
function exactTime(ms: number): string {
  return new Date(ms).toISOString();
}
