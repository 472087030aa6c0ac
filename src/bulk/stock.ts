import type { Client } from '../api/client.ts';

/** The stock of these pets. One GET; a pet that the service does not have is missing from the answer. */
export async function readStockOf(
  client: Pick<Client, 'listInventory'>,
  petIds: ReadonlySet<bigint>,
): Promise<ReadonlyMap<bigint, number>> {
  const stock = new Map<bigint, number>();
  for await (const batch of client.listInventory()) {
    for (const { petId, quantity } of batch) {
      if (petIds.has(petId)) stock.set(petId, quantity);
    }
  }
  return stock;
}
