import type { Client } from '../api/client.ts';
import { createFilter } from '../inventory/filter.ts';

/** The stock of these pets. One GET; a pet that the service does not have is missing from the answer. */
export async function readStockOf(
  client: Pick<Client, 'scanInventory'>,
  petIds: ReadonlySet<bigint>,
): Promise<ReadonlyMap<bigint, number>> {
  const only = createFilter({ petIds });
  const stock = new Map<bigint, number>();
  for await (const batch of client.scanInventory()) {
    only(batch);
    for (const { petId, quantity } of batch.items()) stock.set(petId, quantity);
  }
  return stock;
}
