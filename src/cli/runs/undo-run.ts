import type { BulkRow } from '../../inventory/change.ts';
import { historyRunLines } from '../../output/history-run-view.ts';
import { ConflictError, UsageError } from '../../shared/errors.ts';
import { shellWord } from '../../shared/shell-word.ts';
import type { RecordedRow, RunRecord } from '../../state/history.ts';
import { isUndoable, undoRow } from '../../writes/undo-rows.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { withExistingState } from '../invocation/state.ts';
import { type PlanOptions, performPlan } from './perform-plan.ts';
import { requireRun } from './require-run.ts';
import { beginRun } from './run-log.ts';
import { requireSameEnvironment, requireSameService } from './same-service.ts';
import { openSession, type Session } from './session.ts';
import { withWayOn } from './way-on.ts';

/**
 * Takes back the latest run of the environment, once it has been shown.
 * @throws UsageError where no run has written anything that is still there
 */
export async function undoLastRun(invocation: Invocation, options: PlanOptions): Promise<void> {
  const env = invocation.environment.value;
  const last = await withExistingState(invocation, 'undo', async (state) => {
    for await (const run of state?.history.runs({ env }) ?? []) if (isLast(run)) return run;
    return undefined;
  });
  if (last === undefined) {
    throw new UsageError(`There is nothing to take back in ${env}`, { hint: 'petstock history list' });
  }
  const always = !options.dryRun && invocation.questions.willAsk();
  await invocation.messages.show(() => historyRunLines(last), { always });
  await undoRun(invocation, last.run, options);
}

/** A run that is still going on counts: it is the latest, and can't be taken back yet. An undo is not taken back. */
function isLast({ undoes, state, undone, counts }: RunRecord): boolean {
  const written = counts.applied + counts.differs + counts.unknown;
  return undoes === undefined && (state === 'running' || undone < written);
}

/** Takes back what a run has written. @throws UsageError where there is nothing (more) to take back */
export async function undoRun(invocation: Invocation, text: string, options: PlanOptions): Promise<void> {
  const run = await requireRun(invocation, 'undo', text);
  if (run.state === 'running') {
    throw new ConflictError(`Run ${run.run} is still going on; nothing was sent`, { hint: 'petstock history list' });
  }
  const command = `petstock undo ${shellWord(run.run)}`;
  requireSameEnvironment(run, invocation.environment.value, command);
  await withWayOn(`${command} --env ${run.env}`, () => takeBack(invocation, run, options));
}

async function takeBack(invocation: Invocation, run: RunRecord, options: PlanOptions): Promise<void> {
  const command = `petstock undo ${run.run}`;
  const session = await openSession(invocation);
  requireSameService(run, session.connection, command);
  const undoable = await undoableRows(session, run);
  await invocation.service.announce();
  const stock = await session.readSettledStock(new Set(undoable.map(({ recorded }) => recorded.petId)));
  const rows: BulkRow[] = [];
  for (const { recorded, lastKnown } of undoable) {
    const { petId, sequence } = recorded;
    const laterWrites = await session.connection.state.history.writesAfter({
      service: run.service,
      petId,
      run: run.run,
      sequence,
    });
    const row = undoRow(run.run, recorded, { stock: stock.quantities.get(petId), laterWrites, lastKnown });
    if (row !== undefined) rows.push(row);
  }
  const subject = { command: 'undo', undoes: run.run };
  await performPlan(
    session,
    {
      rows,
      mark: stock.mark,
      readAt: stock.readAt,
      verb: 'Take back',
      look: `${command} --env ${run.env} --dry-run`,
      begin: (plan, numbers) => beginRun(invocation, session.connection, subject, { rows: plan, numbers }),
    },
    options,
  );
}

interface UndoableRow {
  readonly recorded: RecordedRow;
  /** What the history knew of the stock before a plain set. */
  readonly lastKnown: number | undefined;
}

/** @throws UsageError where there is none */
async function undoableRows({ connection }: Session, run: RunRecord): Promise<readonly UndoableRow[]> {
  const { history } = connection.state;
  const rows: UndoableRow[] = [];
  let isBlind = false;
  for await (const recorded of history.rows(run.run)) {
    if (!isUndoable(recorded)) continue;
    const { before, petId, sequence } = recorded;
    const lastKnown = before ?? (await history.lastKnownQuantity(run.service, petId, sequence));
    if (lastKnown === undefined) isBlind = true;
    else rows.push({ recorded, lastKnown });
  }
  if (rows.length === 0) throw nothingToUndo(run, isBlind);
  return rows;
}

function nothingToUndo({ run, undoneBy }: RunRecord, isBlind: boolean): UsageError {
  const why = isBlind
    ? 'set a stock without reading it, so it is not known what it was'
    : undoneBy.length > 0
      ? `was taken back already, by ${undoneBy.join(' and ')}`
      : 'has written nothing';
  return new UsageError(`There is nothing to take back: run ${run} ${why}`, { hint: `petstock history show ${run}` });
}
