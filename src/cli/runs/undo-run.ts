import { historyRunLines } from '../../output/history-run-view.ts';
import { ConflictError, UsageError } from '../../shared/errors.ts';
import { shellWord } from '../../shared/shell-word.ts';
import { whereName, whereOptions } from '../../shared/where.ts';
import type { RunRecord } from '../../state/history.ts';
import { planUndo, undoablePets } from '../../writes/plan-undo.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { sharedStateOf, withExistingState } from '../invocation/state.ts';
import { userOf } from '../invocation/user.ts';
import { type PlanJob, type PlanOptions, performPlan } from './perform-plan.ts';
import { requireRun } from './require-run.ts';
import { beginning } from './run-log.ts';
import { requireSamePlace, requireSameService } from './same-service.ts';
import { openSession, type Session } from './session.ts';
import { withWayOn } from './way-on.ts';

/**
 * Takes back the latest run of the environment, once it has been shown; with a shared state the latest of this user and machine.
 * @throws UsageError where no run has written anything that is still there
 */
export async function undoLastRun(invocation: Invocation, options: PlanOptions): Promise<void> {
  const { where, context } = invocation;
  // Of what others have written from other machines, each is named: the latest one may not be what is meant.
  const isShared = sharedStateOf(invocation) !== undefined;
  const by = isShared ? { user: userOf(context.env), host: context.processes.self.host } : undefined;
  const filter = { env: where.env, store: where.store ?? null, by };
  const last = await withExistingState(invocation, 'undo', async (state) => {
    for await (const run of state?.history.runs(filter) ?? []) if (isLast(run)) return run;
    return undefined;
  });
  if (last === undefined) {
    throw new UsageError(`There is nothing to take back in ${whereName(where)}`, { hint: 'petstock history list' });
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
    throw new ConflictError(`Run ${run.run} is still running; nothing was sent`, { hint: 'petstock history list' });
  }
  const command = `petstock undo ${shellWord(run.run)}`;
  requireSamePlace(run, invocation.where, command);
  await withWayOn(`${command} ${whereOptions(run)}`, () => takeBack(invocation, run, options));
}

async function takeBack(invocation: Invocation, run: RunRecord, options: PlanOptions): Promise<void> {
  const command = `petstock undo ${run.run}`;
  const session = await openSession(invocation);
  requireSameService(run, session.connection, command);
  const look = `${command} ${whereOptions(run)} --dry-run`;
  await performPlan(session, await planOf(session, run, look, options), options);
}

/** What has to be known for the plan is held no longer than this takes. */
async function planOf(session: Session, run: RunRecord, look: string, { dryRun }: PlanOptions): Promise<PlanJob> {
  const { invocation, connection } = session;
  const { history } = connection.state;
  const petIds = await undoablePets(history, run);
  if (!dryRun) invocation.questions.requireAnswer({ look });
  await invocation.service.announce();
  const { quantities, mark, readAt } = await session.readSettledStock(petIds);
  const rows = await planUndo(history, run, quantities);
  const begin = beginning(session, { command: 'undo', undoes: run.run });
  return { rows, mark, readAt, verb: 'Take back', look, begin };
}
