import type { Outcome, RecordedResult } from '../history.ts';
import { recordedResults } from '../recorded-results.ts';
import type { BegunRun } from './begin-run.ts';
import { giveBackLease, leaveLeaseToRequest, type Shared } from './leases.ts';

/** How many rows of a run moved from one result to another in a transaction. */
export class CountChanges {
  readonly #changes = new Map<string, number>();

  move(from: string, to: RecordedResult): void {
    if (from === to) return;
    this.#changes.set(from, (this.#changes.get(from) ?? 0) - 1);
    this.#changes.set(to, (this.#changes.get(to) ?? 0) + 1);
  }

  /** Inside a transaction. */
  write({ connection }: Pick<Shared, 'connection'>, run: number): void {
    if (this.#changes.size === 0) return;
    const changes = recordedResults.map((result) => this.#changes.get(result) ?? 0);
    connection.run(
      `UPDATE runs SET ${recordedResults.map((name) => `${name} = ${name} + ?`).join()} WHERE id = ?`,
      ...changes,
      run,
    );
  }
}

/** A run, as far as its rows may be settled by this process. */
export interface SettlingRun extends BegunRun {
  /** Another process has taken the run over: what it has settled since stays. */
  readonly isTakenOver: boolean;
}

/** Inside a transaction. Writes what became of rows, and gives their leases back. */
export function settleRows(
  shared: Shared,
  run: SettlingRun,
  outcomes: readonly Outcome[],
  counts: CountChanges,
  next: () => number,
): void {
  for (const outcome of outcomes) {
    const { row, petId } = outcome;
    const known = shared.connection.get('SELECT result, line FROM rows WHERE run = ? AND row = ?', run.id, row);
    if (known === undefined || (run.isTakenOver && known.result !== 'unknown')) continue;
    const result = outcome.result === 'void' ? 'pending' : outcome.result;
    writeOutcome(shared, run, { ...outcome, result }, next());
    counts.move(String(known.result), result);
    const pet = { service: run.service, petId };
    if (result === 'unknown') leaveLeaseToRequest(shared, pet, run.run);
    else giveBackLease(shared, pet, run.run);
    if (result === 'applied' && known.result !== 'applied') markUndone(shared, run, Number(known.line));
  }
}

function writeOutcome(
  { connection, clock }: Shared,
  run: BegunRun,
  { row, result, quantity, error }: Omit<Outcome, 'result'> & { readonly result: RecordedResult },
  touched: number,
): void {
  connection.run(
    'UPDATE rows SET result = ?, quantity = ?, error = ?, at = ?, touched = ? WHERE run = ? AND row = ?',
    result,
    quantity ?? null,
    error === undefined ? null : JSON.stringify(error),
    Math.round(clock.now()),
    touched,
    run.id,
    row,
  );
}

/** Inside a transaction. The row of the run that this one takes back was taken back. */
export function markUndone({ connection }: Pick<Shared, 'connection'>, { run, undoes }: BegunRun, row: number): void {
  if (undoes === undefined) return;
  const target = connection.get('SELECT id, undone_by FROM runs WHERE run = ?', undoes);
  if (target === undefined) return;
  const changed = connection.run(
    'UPDATE rows SET undone_by = ? WHERE run = ? AND row = ? AND undone_by IS NULL',
    run,
    Number(target.id),
    row,
  );
  const undoneBy = new Set(JSON.parse(String(target.undone_by)) as string[]).add(run);
  connection.run(
    'UPDATE runs SET undone = undone + ?, undone_by = ? WHERE id = ?',
    changed,
    JSON.stringify([...undoneBy]),
    Number(target.id),
  );
}
