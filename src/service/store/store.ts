import type { Clock } from '../clock.ts';
import type { Admission, LimitRules } from '../limits/admission.ts';
import type { Limits } from '../limits/plans.ts';

export type PetStatus = 'available' | 'pending' | 'sold';

/** One entry of the inventory. Both numbers are exact int64. */
export interface InventoryItem {
  readonly petId: bigint;
  readonly quantity: bigint;
  readonly status: PetStatus;
}

/** What a key is entitled to. `plan` is a name for people; the limits decide. */
export interface Entitlement {
  readonly plan: string;
  readonly limits: Limits;
}

/**
 * Where everything that outlives a request is kept. Several processes may have the same store open, and each method is
 * atomic among all of them.
 *
 * @throws StorageError from every method when the store cannot be read or written; then nothing has been changed
 */
export interface Store {
  /** Makes `key` valid. A known key keeps what it has used, and its entitlement too unless `entitlement` is given. */
  register(key: string, entitlement: Entitlement | undefined, otherwise: Entitlement): Promise<void>;

  /** Charges or refuses one request of `key`, at the time that the clock shows once it is its turn. Null: no such key. */
  admit(key: string, rules: LimitRules, clock: Clock): Promise<Admission | null>;

  /**
   * The inventory in the order of ids, as it was at one moment, in pages of bounded size.
   * A page is the JSON text of its items with commas between: built by the database, a million pets take a tenth of
   * the time that objects would, and no id passes through a double.
   */
  inventory(): AsyncGenerator<string, void>;

  find(petId: bigint): Promise<InventoryItem | null>;

  /** Sets the quantity and returns the item as it is then. Null: no such pet. */
  setQuantity(petId: bigint, quantity: bigint): Promise<InventoryItem | null>;

  close(): Promise<void>;
}

/** The store could not be read or written: a full disk, a lock that was not released in time, a damaged file. */
export class StorageError extends Error {
  override readonly name = 'StorageError';
}
