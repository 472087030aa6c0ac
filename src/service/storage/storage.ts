import type { Admission, LimitRules, Limits, Usage } from '../limits/admission.ts';
import type { InventoryItem, PetStatus, SeedStock, StockItem } from '../seed/stock.ts';

/** The entitlement of a key. `plan` is a name for display; the limits decide. */
export interface Entitlement {
  readonly plan: string;
  readonly limits: Limits;
}

/** A key as shown to administrators: never the key itself. */
export interface KeyRecord extends Entitlement {
  /** The first 12 hex digits of the SHA-256 of the key. */
  readonly id: string;
  /** Milliseconds since the Unix epoch, as `revokedAt`. */
  readonly createdAt: number;
  /** Null while the key is valid. */
  readonly revokedAt: number | null;
  /** `key-file` for the key of a server's file; null for one that was issued. */
  readonly origin: string | null;
  /** The name given by its issuer, for display; null without one. */
  readonly name: string | null;
  readonly usage: Usage;
}

export interface Registration {
  /** A known key keeps its entitlement. */
  readonly keepsKnown: boolean;
  /** See KeyRecord. */
  readonly origin?: string | undefined;
  /** See KeyRecord. */
  readonly name?: string | undefined;
}

/** The keys of a store, with their usage. */
export interface KeyStorage {
  /** Registers `key`. Its usage is kept, and once revoked it stays revoked. */
  register(key: string, entitlement: Entitlement, registration: Registration): Promise<KeyRecord>;

  /** Revokes a key. Later requests are refused, in every process. Null: no such key. */
  revoke(id: string): Promise<KeyRecord | null>;

  /** All keys, valid or revoked, oldest first. */
  keys(): Promise<readonly KeyRecord[]>;

  /** Charges or refuses one request of `key`, at the time of its turn. Null: no such key, or a revoked one. */
  admit(key: string, rules: LimitRules): Promise<Admission | null>;

  /**
   * Replaces the usage of a key by the result of `change`. Null: no such key.
   * @param change may be called again
   */
  changeUsage(id: string, change: (usage: Usage, now: number) => Usage): Promise<KeyRecord | null>;
}

/** The pets and orders of a store. */
export interface StockStorage {
  /**
   * The inventory in the order of ids, as it was at one moment, in pages of bounded size.
   * A page is the JSON text of its items with commas between: built by the database, a million pets take a tenth of
   * the time that objects would, and no id passes through a double.
   * @param who asks, such as a key: where few can read at once, each has a share
   */
  inventory(who?: string): AsyncGenerator<string, void>;

  find(petId: bigint): Promise<StockItem | null>;

  /** Sets the quantity and returns the resulting item. Null: no such pet. */
  setQuantity(petId: bigint, quantity: bigint): Promise<InventoryItem | null>;

  /** Like `setQuantity`, with the status, which the service itself never changes. */
  setStatus(petId: bigint, status: PetStatus): Promise<InventoryItem | null>;

  /** The orders, each a JSON text, in the order in which they were imported. */
  orders(): Promise<readonly string[]>;

  /** The JSON texts of the pets that have one, in the order of ids. */
  records(): Promise<readonly string[]>;

  /**
   * Adds pets, or replaces those with the same ids. Quantity and status are always given; without a new record the old
   * one stays.
   */
  put(items: Iterable<StockItem>): Promise<void>;

  /** Removes a pet. False: no such pet. */
  remove(petId: bigint): Promise<boolean>;

  /** Replaces everything by this stock, and clears the usage of keys if `forgetsUsage`, atomically. */
  replace(stock: SeedStock, options: { readonly forgetsUsage: boolean }): Promise<void>;
}

/**
 * Where everything is kept that outlives a request, and on which all services that share it have to agree. Several
 * processes may have the same store open, and each method is atomic among all of them: a result is handed out when it is
 * durable. `test/service/storage-contract.ts` is what any store has to pass.
 *
 * Time is the store's: every window, ban and date goes by `now`, whatever the clocks of the machines say.
 * @throws StorageError from every method when the store cannot be read or written; then nothing has been changed, unless
 * it says that the outcome is unknown
 */
export interface ServiceStorage extends KeyStorage, StockStorage {
  /** Whether it was created when it was opened, with the given stock. */
  readonly isNew: boolean;

  /** Milliseconds since the Unix epoch. Between two calls of an engine on another machine, an estimate. */
  now(): number;

  advance(milliseconds: number): Promise<void>;

  /**
   * Resolves if a change could be committed: either a test change succeeded within the last seconds and none has failed
   * since, or one succeeds now.
   */
  check(): Promise<void>;

  /** Connections to the database, those of them that idle, and requests that wait for one; undefined if there are none. */
  readonly pool?: { readonly total: number; readonly idle: number; readonly waiting: number };

  /** Completes pending work, and releases the store. May be called again. */
  close(): Promise<void>;
}

/**
 * `damaged`: the content of the file is not valid, or it is no database at all. `unusable`: it is something other than
 * a store of this version, or may not be used; retrying will not help. `starting`: the database may only be starting.
 * `uncertain`: the change may have been made, because the connection was lost before the reply.
 */
type StorageFailure = 'failed' | 'damaged' | 'unusable' | 'starting' | 'uncertain';

/** The store could not be read or written: a full disk, a lock that was not released in time, a damaged file. */
export class StorageError extends Error {
  override readonly name = 'StorageError';

  constructor(
    message: string,
    readonly kind: StorageFailure = 'failed',
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
