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

/** A key as its administrators see it: never the key itself. */
export interface KeyRecord extends Entitlement {
  /** The first 12 hex digits of the SHA-256 of the key. */
  readonly id: string;
  /** Milliseconds since the Unix epoch, as `revokedAt`. */
  readonly createdAt: number;
  /** Null while the key is valid. */
  readonly revokedAt: number | null;
}

export interface Registration {
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  /** A known key keeps the entitlement that it has. */
  readonly keepsKnown: boolean;
}

/**
 * Where everything that outlives a request is kept. Several processes may have the same store open, and each method is
 * atomic among all of them: a result is told when it is durable. `test/service/store-contract.ts` is what any store has
 * to pass; docs/service.md says what one for several machines has to mind.
 *
 * @throws StorageError from every method when the store cannot be read or written; then nothing has been changed
 */
export interface Store {
  /** Makes `key` known. What it has used stays, and once revoked it stays so. */
  register(key: string, entitlement: Entitlement, registration: Registration): Promise<void>;

  /** Ends the validity of a key. What comes next is refused, in every process. Null: no such key. */
  revoke(id: string, at: number): Promise<KeyRecord | null>;

  /** All keys, valid or revoked, oldest first. */
  keys(): Promise<readonly KeyRecord[]>;

  /**
   * Charges or refuses one request of `key`, at the time that the clock shows once it is its turn.
   * Null: no such key, or a revoked one.
   */
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

  /** Completes what has been asked for, and lets go of the store. Once more does nothing. */
  close(): Promise<void>;
}

/** The store could not be read or written: a full disk, a lock that was not released in time, a damaged file. */
export class StorageError extends Error {
  override readonly name = 'StorageError';
  /** True when trying again will not help: the file is damaged, or something else than a store of this version. */
  readonly isUnusable: boolean;

  constructor(message: string, { isUnusable = false, ...options }: ErrorOptions & { isUnusable?: boolean } = {}) {
    super(message, options);
    this.isUnusable = isUnusable;
  }
}
