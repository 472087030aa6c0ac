import type { InventoryItem, ItemBatches } from '../../src/inventory/items.ts';

/** Yields items in batches of this size. */
export async function* batchesOf(
  items: readonly InventoryItem[],
  size: number,
): AsyncGenerator<readonly InventoryItem[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}

export async function itemsOf(batches: ItemBatches): Promise<InventoryItem[]> {
  const items: InventoryItem[] = [];
  for await (const batch of batches) items.push(...batch);
  return items;
}
