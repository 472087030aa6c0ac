import { ItemColumns } from '../../src/inventory/item-columns.ts';
import type { InventoryItem } from '../../src/inventory/items.ts';

/** Yields items in batches of this size. The same columns are refilled for each batch, as by the scanner. */
export async function* batchesOf(items: readonly InventoryItem[], size: number): AsyncGenerator<ItemColumns> {
  const batch = new ItemColumns(size);
  for (let at = 0; at < items.length; at += size) {
    batch.length = 0;
    for (const { petId, quantity, status } of items.slice(at, at + size)) batch.append(petId, quantity, status);
    yield batch;
  }
}

export function columnsOf(items: readonly InventoryItem[]): ItemColumns {
  const batch = new ItemColumns(items.length);
  for (const { petId, quantity, status } of items) batch.append(petId, quantity, status);
  return batch;
}

export async function itemsOf(batches: AsyncIterable<ItemColumns>): Promise<InventoryItem[]> {
  const items: InventoryItem[] = [];
  for await (const batch of batches) items.push(...batch.items());
  return items;
}
