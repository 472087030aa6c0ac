/** The statuses that the service specifies, in the order in which petstock shows them. */
export const petStatuses = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof petStatuses)[number];

export function isPetStatus(text: string): text is PetStatus {
  return (petStatuses as readonly string[]).includes(text);
}

/**
 * The stock of one pet, as the service answers it. A type rather than an interface, so that it passes
 * for a row of plain values without being copied.
 */
export type InventoryItem = {
  /** An int64: every digit counts. */
  readonly petId: bigint;
  /** A safe integer; the service specifies no bounds, so it may be negative. */
  readonly quantity: number;
  /** Usually a `PetStatus`; an unknown one is kept as it came. */
  readonly status: string;
};

/** Items in batches, as they come from their source. */
export type ItemBatches = AsyncIterable<readonly InventoryItem[]> | Iterable<readonly InventoryItem[]>;
