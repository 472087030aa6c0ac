import { aliveAmong } from './living-processes.ts';
import { requireCurrent } from './older-copy.ts';
import { wasDiscarded } from './run-errors.ts';
import { noSuchRun } from './run-ids.ts';
import type { StateContext } from './state-context.ts';
import { selectLast, type TransactionContext, type TransactionSteps } from './state-database.ts';
import { statement } from './statements.ts';

export type TakenOver = { readonly token: string } | { readonly by: string; readonly ends: number | undefined };

/**
 * Takes a run over, unless a live process is writing it.
 * @returns the token of the run; or the live process that writes it, with `LivingProcess.otherBootLeaseEnd`
 * @throws NotFoundError if there is no such run, ConflictError if it was discarded, OlderCopyError for an older copy
 */
export function* takeRun(context: StateContext, at: TransactionContext, run: string): TransactionSteps<TakenOver> {
  const { presence } = context;
  const [[row] = [], [meta] = []] = yield [
    statement('SELECT token, holder, discarded FROM petstock.runs WHERE run = ?', run),
    selectLast,
  ];
  yield* requireCurrent(meta, context);
  if (row === undefined) throw noSuchRun(run);
  if (row.discarded !== null) throw wasDiscarded(run);
  const token = String(row.token);
  const living = yield* aliveAmong(presence, at, [row]);
  const other = row.holder === presence.id ? undefined : living.get(String(row.holder));
  if (other !== undefined) return { by: other.name, ends: other.otherBootLeaseEnd };
  at.writes.push(statement('UPDATE petstock.runs SET holder = ? WHERE token = ?', presence.id, token));
  return { token };
}

/**
 * Waits up to 1 s for the lease of the run's process to end; `resume` repeats that. The process may belong to an
 * earlier boot or a container, so only its lease shows whether it is alive.
 */
export async function waitForProcess(
  { clock, database, interrupted, warn }: StateContext,
  run: string,
  { ends, isReported }: { readonly ends: number; readonly isReported: boolean },
): Promise<void> {
  const rest = Math.max(0, database.time.localLatest(ends) - clock.monotonic());
  if (!isReported) {
    warn(
      `Run ${run} was last written before this machine was started, or in a container. Waiting up to ${Math.ceil(rest / 1000)} s to be sure that its process has ended`,
    );
  }
  await clock.sleep(Math.min(1000, rest + 1), interrupted);
}
