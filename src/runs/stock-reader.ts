import type { ReadOptions } from '../api/client.ts';
import { eachPicked } from '../inventory/filter.ts';
import {
  type InventoryItem,
  type ItemBatches,
  type OutdatedStock,
  PetQuantities,
  type UnreadableItem,
} from '../inventory/items.ts';
import type { RecentWrite } from '../inventory/run-records.ts';
import { releaseAndRethrow } from '../rate-limit/permits.ts';
import { FailureError, type PetstockError, RateLimitedError, UnavailableError } from '../shared/errors.ts';
import { sentence } from '../shared/parsed.ts';
import type { ReadVersion } from '../state/decide.ts';
import type { PetsBeforeRead } from '../state/pet-locks.ts';
import type { StockSnapshot } from '../writes/row-write.ts';
import type { RunContext } from './run-context.ts';

/** Options for reading the list: a permit acquired before, and what to release before a retry. */
type Read = Pick<ReadOptions, 'permit' | 'beforeRetry'>;

/** Pauses before an outdated stock is read again, in milliseconds. */
const pauses = [500, 1000, 2000, 4000];
/** For more pets than this, the recent writes of all pets are queried. */
const maxPetsAsked = 50;

/** An outdated stock. `isPossible`: it may also be current, if a write of unknown outcome was carried out. */
type OlderStock = OutdatedStock & { readonly isPossible: boolean };

/**
 * Rethrows the error of a read. If the service is unavailable or the rate limit requires a long wait, adds that nothing
 * was written.
 */
export function rethrowAsNothingWritten(error: unknown): never {
  throw error instanceof UnavailableError || error instanceof RateLimitedError ? withNothingWritten(error) : error;
}

function withNothingWritten(error: PetstockError): PetstockError {
  return error.with({ message: `${sentence(error.message)} Nothing was written` });
}

export class StockReader {
  readonly #context: RunContext;
  readonly #onItem: (item: InventoryItem) => void;
  readonly #isBegun: boolean;
  readonly #onListed: ((item: InventoryItem) => void) | undefined;

  /**
   * @param onItem called with each requested item
   * @param isBegun whether the run has already begun. The service then had the run's pets, so an empty list is
   * an error
   * @param onListed called with each item of the list, also with those that were not requested
   */
  constructor(
    context: RunContext,
    onItem: (item: InventoryItem) => void = () => {},
    isBegun = false,
    onListed?: (item: InventoryItem) => void,
  ) {
    this.#onListed = onListed;
    this.#context = context;
    this.#onItem = onItem;
    this.#isBegun = isBegun;
  }

  /**
   * Reads the service's list once, or not at all if no pet is requested. While the stock of a pet is outdated, reads
   * again, up to four times. A pet whose stock stays outdated has no quantity and is in `outdated`, unless a write of
   * unknown outcome may explain its stock. Later writes by other commands are detected before a row is written.
   * @param seen the read version and recent writes of the pets, if already known
   */
  readonly read = async (
    petIds: ReadonlySet<bigint>,
    read: Read = {},
    seen?: PetsBeforeRead,
  ): Promise<StockSnapshot> => {
    const { clock, interrupted, onDelay } = this.#context;
    let { older, ...stock } = await this.#readOnce(petIds, read, seen);
    for (const pause of pauses) {
      const [pet] = older.keys();
      if (pet === undefined) return stock;
      await onDelay(`The service may have returned an outdated stock of pet ${pet}; reading it again`);
      await read.beforeRetry?.();
      await clock.sleep(pause, interrupted);
      ({ older, ...stock } = await this.#readOnce(petIds, {}));
    }
    for (const [petId, { isPossible, ...outdated }] of older) {
      if (isPossible) continue;
      stock.quantities.outdated.set(petId, outdated);
      stock.quantities.delete(petId);
    }
    return stock;
  };

  /**
   * Like `read`, for a plan: first waits until no request of a stopped command can still change the stock.
   * @param exceptRun the run that is resumed; its own requests don't count
   */
  async readAfterInFlight(petIds: ReadonlySet<bigint>, exceptRun?: string): Promise<StockSnapshot> {
    const { clock, interrupted, onDelay, serviceName, state } = this.#context;
    for (;;) {
      const now = clock.monotonic();
      const until = await state.pets.inFlightUntil(serviceName, petIds, exceptRun);
      if (until === undefined || until <= now)
        return exceptRun === undefined ? this.read(petIds).catch(rethrowAsNothingWritten) : this.read(petIds);
      const seconds = Math.ceil((until - now) / 1000);
      await onDelay(`A request of a stopped command may still reach the service; reading the stock in ${seconds} s`);
      await clock.sleep(Math.ceil(until - now), interrupted);
    }
  }

  async #readOnce(
    petIds: ReadonlySet<bigint>,
    read: Read,
    seen?: PetsBeforeRead,
  ): Promise<StockSnapshot & { readonly quantities: PetQuantities; readonly older: ReadonlyMap<bigint, OlderStock> }> {
    const { clock, state, serviceName, target } = this.#context;
    const asked = petIds.size > maxPetsAsked ? undefined : [...petIds];
    const releasePermit = releaseAndRethrow(read.permit === undefined ? [] : [read.permit]);
    const { readVersion, writes } = seen ?? (await state.pets.beginRead(serviceName, asked).catch(releasePermit));
    const readAt = clock.monotonic();
    // A run without pets to check sends no request.
    const quantities = petIds.size === 0 ? new PetQuantities() : await this.#quantitiesOf(petIds, read);
    // The sandbox is a single server: an older stock there comes from a reset.
    const older = target.env === 'sandbox' ? new Map() : outdatedOf(quantities, writes, readVersion);
    return { readVersion, readAt, quantities, older };
  }

  /** Returns the stock of the pets that the service has. Unreadable stocks are in `unreadable` instead. */
  async #quantitiesOf(petIds: ReadonlySet<bigint>, read: Read): Promise<PetQuantities> {
    const quantities = new PetQuantities();
    const seen = { items: 0 };
    const onUnreadable = (item: UnreadableItem) => {
      seen.items += 1;
      if (petIds.has(item.petId)) quantities.unreadable.set(item.petId, item);
    };
    const batches = counting(this.#context.client.scanInventory({ ...read, onUnreadable }), seen, this.#onListed);
    await eachPicked(batches, petIds, (item) => {
      quantities.set(item.petId, item.quantity);
      this.#onItem(item);
    }).catch((error) => {
      // A FailureError means that the response is invalid. Once a run has begun, its caller reports what was written.
      throw error instanceof FailureError && !this.#isBegun ? withNothingWritten(error) : error;
    });
    if (this.#isBegun && seen.items === 0) {
      throw new FailureError(
        "The service returned an empty list. That can't be right, because it had the pets of this run before",
      );
    }
    return quantities;
  }
}

async function* counting(
  batches: ItemBatches,
  seen: { items: number },
  onListed: ((item: InventoryItem) => void) | undefined,
): AsyncGenerator<readonly InventoryItem[]> {
  for await (const batch of batches) {
    seen.items += batch.length;
    if (onListed !== undefined) for (const item of batch) onListed(item);
    yield batch;
  }
}

/**
 * Returns the pets whose stock is older than the last one known to this state. A stock that no recent write has read or
 * written comes from another writer, and counts as current.
 * @param writes the oldest first
 * @param readVersion taken before the stock was read: the stock may lack later writes, so those are ignored
 */
function outdatedOf(
  quantities: ReadonlyMap<bigint, number>,
  writes: readonly RecentWrite[],
  readVersion: ReadVersion,
): ReadonlyMap<bigint, OlderStock> {
  const counting = writes.filter(({ sequence }) => sequence <= readVersion.sequence);
  const last = new Map<bigint, number>();
  for (const write of counting) for (const stock of knownBy(write)) last.set(write.petId, stock);
  // Hardly any stock differs from the last known one. Earlier stocks are collected only for pets whose stock differs.
  const others = new Map<bigint, RecentWrite[]>();
  for (const [petId, written] of last) {
    if ((quantities.get(petId) ?? written) !== written) others.set(petId, []);
  }
  for (const write of counting) others.get(write.petId)?.push(write);
  const outdated = new Map<bigint, OlderStock>();
  for (const [petId, ofPet] of others) {
    const [found, written] = [quantities.get(petId), last.get(petId)];
    if (found === undefined || written === undefined || !ofPet.flatMap(knownBy).includes(found)) continue;
    const lastKnown = ofPet.findLastIndex((write) => knownBy(write).length > 0);
    const isPossible = ofPet
      .slice(lastKnown)
      .some(({ result, quantity }) => result === 'unknown' && quantity === found);
    outdated.set(petId, { found, written, isPossible });
  }
  return outdated;
}

/** Returns the stocks that a write proves: the stock that it read, and the stock that it certainly wrote. */
function knownBy({ result, before, quantity }: RecentWrite): readonly number[] {
  return [...(before === undefined ? [] : [before]), ...(result === 'unknown' ? [] : [quantity])];
}
