import type { Change } from '../../../inventory/change.ts';
import { planChanges } from '../../../inventory/plan.ts';
import { whereName, whereOptions } from '../../../shared/where.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { type PlanOptions, performPlan } from '../../runs/perform-plan.ts';
import { beginning } from '../../runs/run-log.ts';
import { openSession, type Session } from '../../runs/session.ts';
import { withWayOn } from '../../runs/way-on.ts';
import { noSuchPets } from './stock.ts';

/**
 * Sets the stock of several pets as one run, as `apply` does: read, plan, preview, guards, question, write, report.
 *
 * @param changes with a quantity each, and no pet twice
 * @throws UsageError where a question can't be asked, NotFoundError where a pet is not in the list; nothing was written then
 */
export async function runSet(
  invocation: Invocation,
  changes: readonly Change[],
  options: Omit<PlanOptions, 'stdinIsTaken'>,
): Promise<void> {
  const assignments = changes.map(({ petId, quantity }) => `${petId}=${quantity}`).join(' ');
  const command = `petstock inventory set ${assignments} ${whereOptions(invocation.where)}`;
  const look = `${command} --dry-run`;
  if (!options.dryRun) invocation.questions.requireAnswer({ look });
  await withWayOn(command, async () => {
    const session = await openSession(invocation);
    await invocation.service.announce();
    await performChanges(session, changes, look, options);
  });
}

async function performChanges(
  session: Session,
  changes: readonly Change[],
  look: string,
  options: Omit<PlanOptions, 'stdinIsTaken'>,
): Promise<void> {
  const { invocation } = session;
  const { quantities, mark, readAt } = await session.readSettledStock(new Set(changes.map(({ petId }) => petId)));
  const isThere = (petId: bigint) => quantities.has(petId) || quantities.unreadable?.has(petId);
  const missing = changes.map(({ petId }) => petId).filter((petId) => !isThere(petId));
  if (missing.length > 0) {
    const error = noSuchPets(invocation, missing);
    throw error.with({ message: `${error.message}; nothing was written` });
  }
  const env = whereName(invocation.where);
  const { rows } = planChanges(changes, quantities, { skipUnknown: false, env });
  await performPlan(
    session,
    {
      rows,
      mark,
      readAt,
      verb: 'Write',
      look,
      begin: beginning(session, { command: 'inventory set' }),
    },
    { ...options, stdinIsTaken: false },
  );
}
