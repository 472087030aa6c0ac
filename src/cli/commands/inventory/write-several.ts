import type { Change } from '../../../inventory/change.ts';
import { isAbsent } from '../../../inventory/items.ts';
import { planChanges } from '../../../inventory/plan.ts';
import { StockReader } from '../../../runs/stock-reader.ts';
import { UsageError } from '../../../shared/errors.ts';
import { commandLine, petstock } from '../../../shared/hint.ts';
import { targetName } from '../../../shared/target.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { performPlan } from '../../runs/perform.ts';
import { withContinueHint } from '../../runs/run-access.ts';
import { type BulkFlags, parseBulkFlags } from '../option-values.ts';
import { noSuchPets } from './stock.ts';

/** `set` takes the new stock, `adjust` a delta. */
export type Verb = 'set' | 'adjust';

/**
 * Writes the stock of several pets as one run, like `apply`.
 * @throws NotFoundError for a pet that the service does not have, UsageError for an invalid change or option, or the
 * error of the run
 */
export async function writeSeveral(
  invocation: Invocation,
  verb: Verb,
  changes: readonly Change[],
  flags: BulkFlags,
): Promise<void> {
  const options = parseBulkFlags(invocation, flags);
  const words = changes.map(
    ({ petId, quantity, delta = 0 }) => `${petId}=${quantity ?? (delta < 0 ? delta : `+${delta}`)}`,
  );
  const changed = { code: undefined, readFirst: undefined };
  const command = commandLine(invocation, ['inventory', verb, ...words], changed);
  if (!options.dryRun) invocation.questions.requireAnswer({ previewCommand: petstock`${command} --dry-run` });
  await withContinueHint(command, async () => {
    const access = { invocation, connection: await invocation.connections.connect({ bulk: true, writes: true }) };
    await invocation.connections.announce();
    const petIds = changes.map(({ petId }) => petId);
    const stock = await new StockReader(access.connection).readAfterInFlight(new Set(petIds));
    const { quantities } = stock;
    const absent = petIds.filter((petId) => isAbsent(quantities, petId));
    if (absent.length > 0) {
      const error = noSuchPets(invocation, absent);
      throw error.with({ message: `${error.message}. Nothing was written` });
    }
    const { rows, problems } = planChanges(changes, quantities, { env: targetName(invocation.target) });
    const [problem] = problems;
    if (problem !== undefined) {
      const { petId } = changes[problem.line - 1] ?? {};
      throw new UsageError(`Pet ${petId}: ${problem.message}. Nothing was written`);
    }
    const subject = { command: `inventory ${verb}` };
    await performPlan(access, { subject, rows, stock, intention: { verb: 'Write' } }, options);
  });
}
