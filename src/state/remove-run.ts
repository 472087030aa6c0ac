import { removableRuns } from './decide.ts';
import { aliveAmong } from './living-processes.ts';
import type { Presence } from './presence.ts';
import { keepRecent } from './recent-writes.ts';
import { runColumns, runRecordOf } from './run-columns.ts';
import type { TransactionContext, TransactionSteps } from './state-database.ts';
import { type Row, statement } from './statements.ts';
import { possibleResults } from './tables.ts';

/**
 * Removes a run unless a process is writing it or another run relies on it. Keeps the sequence number of each pet's
 * last write, and the recent writes.
 * @param wanted all runs that the caller is removing
 * @returns the token of the run; undefined if it stays or there is none
 */
export function* removeRun(
  presence: Presence,
  at: TransactionContext,
  run: string,
  wanted: ReadonlySet<string>,
): TransactionSteps<string | undefined> {
  const isOpen = 'pending + unknown > 0';
  const [rows = []] = yield [
    statement(
      `SELECT ${runColumns} FROM petstock.runs
       WHERE run = ? OR run = (SELECT undoes FROM petstock.runs WHERE run = ?) OR ${isOpen}
         OR run IN (SELECT undoes FROM petstock.runs WHERE ${isOpen})`,
      ...[run, run],
    ),
  ];
  const row = rows.find((one) => one.run === run);
  const living = yield* aliveAmong(presence, at, row === undefined ? [] : [row]);
  const stays = (one: Row) => (one === row ? living.has(String(row.holder)) : one.run === row?.undoes);
  const all = rows.map((one) => runRecordOf(one, stays(one)));
  if (row === undefined || !removableRuns(all, wanted).includes(run)) return undefined;
  const id = Number(row.id);
  at.writes.push(
    statement(
      `INSERT INTO petstock.pruned (pet_id, service, sequence)
         SELECT pet_id, service, max(touched) FROM petstock.rows WHERE run = ? AND result IN (${possibleResults}) GROUP BY pet_id, service
         ON CONFLICT (pet_id, service) DO UPDATE SET sequence = excluded.sequence WHERE pruned.sequence < excluded.sequence`,
      id,
    ),
    ...keepRecent(at, id, presence.processes.self.host),
    statement('DELETE FROM petstock.rows WHERE run = ?', id),
    statement('DELETE FROM petstock.runs WHERE id = ?', id),
  );
  return String(row.token);
}
