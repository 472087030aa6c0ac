import type { RecordedRow, RunRecord } from '../inventory/run-records.ts';
import { errorJsonOf } from './change-rows.ts';
import { isoTime } from './time.ts';

/** Where a run wrote, and by whom; null if a field is absent. */
export function runIdentity({ run, at, env, baseUrl, command, host, ...facts }: RunRecord) {
  const { store = null, user = null, file = null, reason = null, undoes = null } = facts;
  return { run, at: isoTime(at), env, store, baseUrl, command, user, host, file, reason, undoes };
}

export function runCounts({ counts }: RunRecord) {
  const { applied, unchanged, failed, conflict, unknown, differs, skipped, notEdited, pending } = counts;
  // A row that was not attempted is pending in the history. A report counts it apart: both have the same fields.
  return { applied, unchanged, failed, conflict, notAttempted: 0, unknown, differs, skipped, notEdited, pending };
}

/** A run in JSON. */
export function runJson(facts: RunRecord) {
  const { undoneBy, changes, units, pets, state } = facts;
  return { ...runIdentity(facts), undoneBy, changes, units, pets, counts: runCounts(facts), state };
}

/** The facts of its run that `history export` adds to a row. */
export function exportIdentity(run: RunRecord) {
  const { at: runAt, reason: _reason, ...facts } = runIdentity(run);
  return { ...facts, runAt };
}

/** A row in JSON; an error only where there is one. */
export function rowJson(facts: RecordedRow) {
  const { row, line, petId, before = null, after, result, quantity = null, error, reason = null, ref = null } = facts;
  const at = facts.at === undefined ? null : isoTime(facts.at);
  return { row, line, petId, before, after, result, quantity, error: errorJsonOf(error), reason, ref, at };
}
