import type { Change } from '../../../inventory/change.ts';
import { isAbsent } from '../../../inventory/items.ts';
import { planChanges } from '../../../inventory/plan.ts';
import { UsageError } from '../../../shared/errors.ts';
import { targetName } from '../../../shared/hint.ts';
import { readStockToPlan } from '../../../writes/stock.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { performPlan } from '../../runs/perform.ts';
import { parseBulkFlags } from '../option-values.ts';
import { noSuchPets } from './stock.ts';

/**
 * Shows what `set` or `adjust` would write, and writes nothing.
 * @throws NotFoundError for a pet that the service does not have, UsageError for a change that is not possible
 */
export async function planWrite(invocation: Invocation, command: string, change: Change): Promise<void> {
  const connection = await invocation.connections.connect({ writes: true });
  const { petId } = change;
  const stock = await readStockToPlan(connection, new Set([petId]));
  if (isAbsent(stock.quantities, petId)) throw noSuchPets(invocation, [petId]);
  const { rows, problems } = planChanges([change], stock.quantities, { env: targetName(invocation.target) });
  const [problem] = problems;
  if (problem !== undefined) throw new UsageError(`Pet ${petId}: ${problem.message}. Nothing was written`);
  const plan = { subject: { command }, rows, stock, intention: { verb: 'Write' as const } };
  // The limits of the settings are for plans of many rows.
  const guards = { maxChanges: undefined, maxZero: undefined };
  await performPlan({ invocation, connection }, plan, { ...parseBulkFlags(invocation, { dryRun: true }), guards });
}
