import { inventoryItemView } from '../../../output/inventory-view.ts';
import { ClosedPipeError, FailureError } from '../../../shared/errors.ts';
import type { Connection } from '../../invocation/connect.ts';
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
 * Performs a write that reads the stock first. Where a person has to agree (the setting `confirm` is `always`, or the stock goes
 * below zero) the question shows before and after. Nothing is held meanwhile: the stock is read again, and where it has moved
 * the question comes again.
 *
 * @param target the quantity that is wanted, given the stock
 * @throws UsageError where the answer is no
 */
export async function writeAgreed(
  { questions, config, messages }: Invocation,
  petId: bigint,
  target: (stock: number) => number,
  write: (target: (stock: number) => number) => Promise<Written>,
): Promise<Written> {
  const asksAlways = config.settings.confirm === 'always';
  let agreed: number | undefined;
  for (;;) {
    try {
      return await write((stock) => {
        const quantity = target(stock);
        const asks = questions.willAsk() && (asksAlways || quantity < 0);
        if (asks && agreed !== stock) throw new NotAgreed(stock, quantity);
        if (quantity < 0 && !asks) void messages.warn(belowZero(petId, quantity));
        return quantity;
      });
    } catch (error) {
      if (!(error instanceof NotAgreed)) throw error;
      const { stock, quantity } = error;
      const below = quantity < 0 ? ', below 0' : '';
      await questions.confirm(`Set the stock of pet ${petId}: ${stock} → ${quantity}${below}?`);
      agreed = stock;
    }
  }
}

/** Ends a first look, so that nothing is held while a person is asked. */
class NotAgreed extends Error {
  constructor(
    readonly stock: number,
    readonly quantity: number,
  ) {
    super('a person has to agree first');
  }
}

/**
 * Asks for a plain set, which reads no stock: with the stock that the history knows, where it knows one.
 * @throws UsageError where the answer is no, or can't be given
 */
export async function confirmSet(
  { questions }: Invocation,
  { state, service }: Connection,
  petId: bigint,
  quantity: number,
): Promise<void> {
  const [known] = questions.willAsk() ? await state.history.lastKnownQuantities(service, [{ petId }]) : [];
  const below = quantity < 0 ? ', below 0' : '';
  await questions.confirm(
    known === undefined
      ? `Set the stock of pet ${petId} to ${quantity}${below}?`
      : `Set the stock of pet ${petId}: ${known} → ${quantity}${below}? (${known} is from the history of this machine.)`,
  );
}

/**
 * Asks on a terminal before a stock goes below zero. In a script it goes through, with a warning: the service specifies no
 * bounds.
 * @throws UsageError where the answer is no
 */
export async function confirmBelowZero(
  { questions, messages }: Invocation,
  petId: bigint,
  quantity: number,
): Promise<void> {
  if (quantity >= 0) return;
  if (!questions.willAsk()) return messages.warn(belowZero(petId, quantity));
  await questions.confirm(`The stock of pet ${petId} would go below 0, to ${quantity}. Set it anyway?`);
}

function belowZero(petId: bigint, quantity: number): string {
  return `the stock of pet ${petId} goes below 0, to ${quantity}`;
}
