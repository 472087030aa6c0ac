import type { Admission, LimitRules, Limits, Usage } from '../limits/admission.ts';
import type { InventoryItem, PetStatus, SeedStock, StockItem } from '../seed/stock.ts';

/** The entitlement of a key. `plan` is a name for display; the limits decide. */
export interface Entitlement {
  readonly plan: string;
  readonly limits: Limits;
}

/** A key as it is shown to administrators, never the key itself. */
export interface KeyRecord extends Entitlement {
  /** The first 12 hex digits of the SHA-256 of the key. */
  readonly id: string;
  /** Milliseconds since the Unix epoch, like `revokedAt`. */
  readonly createdAt: number;
  /** Null while the key is valid. */
  readonly revokedAt: number | null;
  /** `key-file` for the key from a server's file; null for any other key. */
  readonly origin: string | null;
  /** The name that its issuer chose, for display; null without one. */
  readonly name: string | null;
  readonly usage: Usage;
}

export interface Registration {
  /** Whether a known key keeps its entitlement. */
  readonly keepsKnown: boolean;
  readonly origin?: string | undefined;
  readonly name?: string | undefined;
}

/** The keys in a storage, with their usage. */
export interface KeyStorage {
  /** Registers `key`. A known key keeps its usage, origin and name, and a revoked key stays revoked. */
  register(key: string, entitlement: Entitlement, registration: Registration): Promise<KeyRecord>;

  /** Revokes a key. Every process refuses its later requests. Returns null if there is no such key. */
  revoke(id: string): Promise<KeyRecord | null>;

  /** Returns all keys, valid and revoked, oldest first. */
  keys(): Promise<readonly KeyRecord[]>;

  /**
   * Charges or refuses one request of `key`, at the time of its turn. Returns null if the key is unknown or revoked.
   */
  admit(key: string, rules: LimitRules): Promise<Admission | null>;

  /**
   * Replaces the usage of a key with the result of `change`. Returns null if there is no such key.
   * @param change may be called more than once
   */
  changeUsage(id: string, change: (usage: Usage, now: number) => Usage): Promise<KeyRecord | null>;
}

/** The pets and orders in a storage. */
export interface StockStorage {
  /**
   * Yields a snapshot of the inventory, ordered by id, in pages of limited size. A page is the JSON text of its items,
   * separated by commas. The database builds the text, because building it from objects would take much longer.
   * @param who the reader, such as a key; if there are few connections, readers share them
   */
  inventory(who?: string): AsyncGenerator<string, void>;

  /** Returns a pet with its record, if it has one; null if there is no such pet. */
  find(petId: bigint): Promise<StockItem | null>;

  /** Sets the quantity and returns the resulting item; null if there is no such pet. */
  setQuantity(petId: bigint, quantity: bigint): Promise<InventoryItem | null>;

  /** Like `setQuantity`, for the status. The service itself never changes a status. */
  setStatus(petId: bigint, status: PetStatus): Promise<InventoryItem | null>;

  /** Returns the orders as JSON texts, in the order of their import. */
  orders(): Promise<readonly string[]>;

  /** Returns the JSON texts of the pets that have a record, ordered by id. */
  records(): Promise<readonly string[]>;

  /**
   * Adds pets, or replaces those with the same ids. Their quantity and status are always given; a pet without a new
   * record keeps the old one.
   */
  put(items: Iterable<StockItem>): Promise<void>;

  /** Removes a pet. Returns false if there is no such pet. */
  remove(petId: bigint): Promise<boolean>;

  /** Replaces all pets and orders with this stock, atomically. If `clearsUsage`, also clears the usage of the keys. */
  replace(stock: SeedStock, options: { readonly clearsUsage: boolean }): Promise<void>;
}

/**
 * Everything that outlives a request. Several processes may open the same storage. Each method is atomic among all of
 * them. A method resolves only when its change survives a killed process; with PostgreSQL, when it is on disk.
 * `test/service/storage-contract.ts` tests any storage. Every window, ban and date uses `now`.
 * @throws StorageError from every method if the storage can't be read or written; then nothing was changed, unless the
 * kind of the error is `uncertain`
 */
export interface ServiceStorage extends KeyStorage, StockStorage {
  /** Whether the storage was created on opening, with the given stock. */
  readonly isNew: boolean;

  /** Returns the time, in milliseconds since the Unix epoch. With PostgreSQL, this is an estimate between two calls. */
  now(): number;

  /** Moves the time forward for all services that share the storage; with SQLite, only for this process. */
  advance(milliseconds: number): Promise<void>;

  /**
   * Resolves if a change could be committed: either a test change succeeded in the last few seconds and no change has
   * failed since, or a test change succeeds now.
   */
  check(): Promise<void>;

  /**
   * The number of connections to the database, of idle connections, and of requests that wait for a connection; absent
   * with SQLite.
   */
  readonly pool?: { readonly total: number; readonly idle: number; readonly waiting: number };

  /** Completes pending work (with PostgreSQL, for at most 2 s), and closes the storage. May be called again. */
  close(): Promise<void>;
}

/**
 * The kind of a failure. `damaged` means that the file is not a database, or that its content is not valid; `unusable`
 * that it is not a storage of this version, or may not be used, so another attempt will fail, too; `starting` that the
 * database may still be starting, or can't be reached; `uncertain` that the change may have been made, because the
 * connection was lost before the reply; `failed` anything else.
 */
type StorageFailure = 'failed' | 'damaged' | 'unusable' | 'starting' | 'uncertain';

/**
 * Thrown if the storage can't be read or written, for example because the disk is full, a lock was not released in
 * time, the file is damaged, or the database can't be reached.
 */
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
