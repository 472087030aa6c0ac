import type { InventoryItem } from '../../src/inventory/items.ts';

export const stock: readonly InventoryItem[] = [
  { petId: 1n, quantity: 12, status: 'available' },
  { petId: 42n, quantity: 0, status: 'pending' },
  { petId: 7n, quantity: 3, status: 'sold' },
  { petId: 8n, quantity: -3, status: 'on_loan' },
];

/** Ids that no double holds. */
export const largeStock: readonly InventoryItem[] = [
  { petId: 9007199254740993n, quantity: 250, status: 'available' },
  { petId: 9223372036854775807n, quantity: 0, status: 'pending' },
];
