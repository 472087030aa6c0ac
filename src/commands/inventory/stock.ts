import type { Client } from '../../api/client.ts';
import { NotFoundError } from '../../errors.ts';
import { type InventoryItem, type ItemBatches, isPetStatus } from '../../inventory/items.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { settingDefinitions } from '../../settings/names.ts';

/** The stock levels as the service tells them. The first status that the specification does not name is warned about. */
export async function* readStock(invocation: Invocation, client: Client): AsyncGenerator<readonly InventoryItem[]> {
  let warned = false;
  for await (const batch of client.listInventory()) {
    const unknown = warned ? undefined : batch.find((item) => !isPetStatus(item.status));
    if (unknown) {
      warned = true;
      await warnOfStatus(invocation, unknown);
    }
    yield batch;
  }
}

export async function warnOfStatus(invocation: Invocation, { petId, status }: InventoryItem): Promise<void> {
  if (isPetStatus(status)) return;
  await invocation.warn(`the service gives pet ${petId} the status "${status}", which this version does not know`);
}

/** One GET. @throws NotFoundError where the list has no such pet */
export async function findItem(invocation: Invocation, client: Client, petId: bigint): Promise<InventoryItem> {
  for await (const batch of client.listInventory() satisfies ItemBatches) {
    const item = batch.find((candidate) => candidate.petId === petId);
    if (item) {
      await warnOfStatus(invocation, item);
      return item;
    }
  }
  throw noSuchPet(invocation, petId);
}

export function noSuchPet({ environment }: Invocation, petId: bigint, cause?: NotFoundError): NotFoundError {
  return new NotFoundError(`There is no pet ${petId} in ${environment.value}`, {
    status: cause?.status,
    service: cause?.service,
    cause,
    hint: `petstock inventory list --env ${environment.value}`,
  });
}

/** At or below it a quantity is marked in a table. */
export function lowStockOf({ config }: Invocation): number {
  return config.settings['low-stock'] ?? settingDefinitions['low-stock'].defaultValue ?? 0;
}
