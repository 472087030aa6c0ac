import { inventoryItemView } from '../../../output/inventory-view.ts';
import { ClosedPipeError, FailureError } from '../../../shared/errors.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import type { SingleWrite, Written } from '../../runs/single-write.ts';
import { lowStockOf, warnOfStatus } from './stock.ts';

/**
 * Shows an item that was set, then throws the failure of the write, if there is one. Where the item can't be shown, a script
 * must not take the change for a failed one and repeat it.
 */
export async function finishWrite(
  invocation: Invocation,
  { petId }: SingleWrite,
  { item, before, error }: Written,
): Promise<void> {
  if (item !== undefined) {
    await warnOfStatus(invocation, item);
    const view = inventoryItemView(item, { lowStock: lowStockOf(invocation), before });
    await invocation.results.print(view, { inSpiteOfInterruption: true }).catch((cause) => {
      if (cause instanceof ClosedPipeError || error !== undefined) throw error ?? cause;
      const message = `The stock of pet ${petId} was set to ${item.quantity}, but that could not be shown: ${cause.message}`;
      throw new FailureError(message, { cause });
    });
  }
  if (error !== undefined) throw error;
}

/**
 * Asks on a terminal before a stock goes below zero. In a script it goes through: the service specifies no bounds.
 * @throws UsageError where the answer is no
 */
export async function confirmBelowZero({ questions }: Invocation, petId: bigint, quantity: number): Promise<void> {
  if (quantity >= 0 || !questions.willAsk()) return;
  await questions.confirm(`The stock of pet ${petId} would go below 0, to ${quantity}. Set it all the same?`);
}
