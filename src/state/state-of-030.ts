import { tables } from './schema.ts';
import { type Answer, text, type Value } from './statements.ts';

/** Runs a statement in the transaction of the migration. */
export type RunStatement = (sql: string, values?: readonly Value[]) => Promise<readonly Answer[]>;

/** The tables of 0.3.0. Those with a name that is used again are set aside while the new ones are filled. */
const setAside = ['limits', 'services', 'runs', 'rows'];
const others = ['counts', 'count_scans', 'presence', 'line', 'leases', 'sightings', 'pruned', 'sequence', 'epoch'];
const indexes = [
  ...['line_of_pet', 'runs_by_sequence', 'runs_by_token', 'runs_by_end', 'runs_by_content', 'runs_unfinished'],
  ...['rows_of_pet', 'rows_unknown', 'rows_by_change'],
];

/** How long a request of 0.3.0 may be under way, in milliseconds, if its row does not tell. */
const longestFlight = 60_000;

/** A boolean in PostgreSQL, a number in SQLite. */
const flag = (column: string) => `CASE WHEN CAST(${column} AS text) IN ('1', 'true') THEN 1 ELSE 0 END`;

const isFinal = "old.result NOT IN ('pending', 'unknown')";
const wasSent = "old.result IN ('applied', 'differs', 'unknown', 'failed')";

/**
 * Statements that fill the new tables. 0.3.0 numbered the intents and outcomes of all services together, and its
 * numbers are kept, so that a cursor of `history export` stays valid. Rows without an outcome were not sent, or their
 * outcome is unknown.
 */
const copies: readonly string[] = [
  `INSERT INTO services (service, last_intent, removed_intent) SELECT name, (SELECT last FROM sequence),
     coalesce((SELECT max(sequence) FROM pruned WHERE pruned.service = old.id), 0) FROM services_of_030 AS old`,
  'UPDATE outcomes SET last = (SELECT last FROM sequence)',
  `INSERT INTO runs (run, number, began, at, command, env, store, base_url, service, scope, os_user, host, pid, file, content_hash,
       reason, undoes, discarded, head_unchanged, head_skipped, head_not_edited, changes, units, pets)
     SELECT old.run, old.sequence, old.began, old.at, command, env, store, base_url, name, scope, os_user, host, 0, file, content_hash,
       reason, undoes, ${flag('discarded')},
       head_unchanged, head_skipped, head_not_edited, changes, CAST(units AS text), CAST(pets AS text)
     FROM runs_of_030 AS old JOIN services_of_030 AS named ON named.id = old.service`,
  `INSERT INTO rows (run, row, line, service, pet_id, before, after, delta, basis, reason, ref, result, intent, in_flight_until,
       quantity, error, at, outcome)
     SELECT of_run.run, old.row, old.line, name, old.pet_id, old.before, old.after, old.delta, of_run.began, old.reason, old.ref, old.result,
       CASE WHEN ${wasSent} THEN old.sequence END,
       CASE WHEN old.result = 'unknown' AND of_run.discarded IS NULL THEN coalesce(old.lasts, ${longestFlight}) + ? END,
       old.quantity, old.error, old.at, CASE WHEN ${isFinal} THEN old.touched END
     FROM rows_of_030 AS old JOIN runs_of_030 AS of_run ON of_run.id = old.run JOIN services_of_030 AS named ON named.id = old.service`,
];

/**
 * Turns the tables of 0.3.0 into those of this version, with all runs and gates.
 * @param now the store's time
 */
export async function migrateSchema(run: RunStatement, now: number): Promise<void> {
  for (const index of indexes) await run(`DROP INDEX IF EXISTS ${index}`);
  for (const table of setAside) await run(`ALTER TABLE ${table} RENAME TO ${table}_of_030`);
  for (const sql of tables.split(';')) if (sql.trim() !== '') await run(sql);
  for (const sql of copies) await run(sql, sql.includes('?') ? [now] : []);
  for (const { scope, state } of await run('SELECT scope, state FROM limits_of_030')) {
    const kept = limitsOf030(String(text(state)));
    const insert = 'INSERT INTO limits (scope, version, at, state) VALUES (?, ?, ?, ?)';
    if (kept !== undefined) await run(insert, [String(scope), 'of 0.3.0', now, kept]);
  }
  for (const table of [...setAside.map((each) => `${each}_of_030`), ...others])
    await run(`DROP TABLE IF EXISTS ${table}`);
}

/** Returns what 0.3.0 knows of a key that still counts, in this version's form: the gate and its episodes. */
function limitsOf030(json: string): string | undefined {
  try {
    const { gate, episodes, env } = JSON.parse(json) as {
      readonly gate: { readonly wall: number; readonly length: number; readonly reason: string };
      readonly episodes: number;
      readonly env: string;
    };
    const { wall: at, length, reason } = gate;
    const known = { target: env, gate: { at, length, reason }, episodes, halfOpen: true, inFlight: [] };
    return at > 0 ? JSON.stringify(known) : undefined;
  } catch {
    return undefined;
  }
}
