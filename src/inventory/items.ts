import { fault, type Parsed, parsed, quoted } from '../shared/parsed.ts';

/** The statuses that the service specifies, in the order in which petstock shows them. */
export const petStatuses = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof petStatuses)[number];

export function isPetStatus(text: string): text is PetStatus {
  return (petStatuses as readonly string[]).includes(text);
}

/** Reads a status in any case: `Available`. */
export function parsePetStatus(text: string): Parsed<PetStatus> {
  const status = petStatuses.find((known) => known === text.toLowerCase());
  return status === undefined
    ? fault(`${quoted(text)} is not a status; valid are ${petStatuses.join(', ')}`)
    : parsed(status);
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

/** A pet of which the service gives a stock that no quantity can hold: the specification sets no bounds. */
export interface UnreadableItem {
  readonly petId: bigint;
  readonly status: string;
  /** The number in its place: `9007199254740993`, or the beginning of it. */
  readonly number: string;
  /** The nearest number to it; beyond all of them an infinity. */
  readonly nearest: number;
  /** `out of range`, `not an integer` */
  readonly fault: string;
}

/** A clause: `the stock of pet 5 is 9007199254740993, which is out of range` */
export function unreadableText({ petId, number, fault }: UnreadableItem): string {
  return `the stock of pet ${petId} is ${number}, which is ${fault}`;
}

/** Reports whether a pet has to be ordered soon: it can be sold, and its stock is at or below the setting `low-stock`. */
export function isLow(item: { readonly quantity: number; readonly status: unknown }, lowStock: number): boolean {
  return item.status === 'available' && item.quantity <= lowStock;
}

/** Items in batches, as they come from their source. */
export type ItemBatches = AsyncIterable<readonly InventoryItem[]> | Iterable<readonly InventoryItem[]>;
