import { FailureError, InterruptedError, NotFoundError, UnavailableError } from '../../errors.ts';
import type { InventoryItem } from '../../inventory/items.ts';
import type { Invocation } from '../invocation.ts';
import { noSuchPet, warnOfStatus } from './stock.ts';

export interface StockWrite {
  readonly petId: bigint;
  /** The stock that was read before, where it was. */
  readonly before: number | undefined;
  readonly quantity: number;
  readonly reason: string | undefined;
  readonly ref: string | undefined;
}

/**
 * Sets the stock of one pet, with the banner before it and what can be said about a failure after it.
 * @returns the item as the service answered it
 */
export async function writeStock(invocation: Invocation, write: StockWrite): Promise<InventoryItem> {
  const { petId, before, quantity } = write;
  const change = before === undefined ? `to ${quantity}` : `from ${before} to ${quantity}`;
  const client = await invocation.beginWrite(`Set the stock of pet ${petId} ${change}?`);
  const item = await client.updateInventory(petId, quantity).catch((error) => {
    throw worded(invocation, petId, error);
  });
  if (item.petId !== petId) {
    throw new FailureError(`Pet ${petId} was to be set, but the service answered with pet ${item.petId}`);
  }
  if (item.quantity !== quantity) {
    await invocation.warn(`the service set the stock of pet ${petId} to ${item.quantity}, not to ${quantity}`);
  }
  await warnOfStatus(invocation, item);
  return item;
}

/** Says which pet it was, and where the outcome is open, that it is. */
function worded(invocation: Invocation, petId: bigint, error: unknown): unknown {
  const hint = `petstock inventory get ${petId} --env ${invocation.environment.value}`;
  // Without an Error body the address itself may be wrong, so nothing is said about the pet.
  if (error instanceof NotFoundError && error.service) return noSuchPet(invocation, petId, error);
  if (error instanceof InterruptedError) {
    return new InterruptedError(`Interrupted. It is not known whether the stock of pet ${petId} was set`, { hint });
  }
  if (error instanceof UnavailableError) {
    const { status, service } = error;
    const message = `${error.message}. It is not known whether the stock of pet ${petId} was set`;
    return new UnavailableError(message, { status, service, hint, cause: error });
  }
  return error;
}
