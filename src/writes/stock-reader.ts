import type { Client } from '../api/client.ts';
import type { UnreadableItem } from '../inventory/items.ts';
import { PetIdSet, type PetIds } from '../inventory/pet-id-set.ts';
import { PetQuantities, type Quantities } from '../inventory/pet-quantities.ts';
import { eachPicked } from '../inventory/pick-items.ts';
import type { Permit } from '../rate-limit/governor.ts';
import type { Clock } from '../shared/clock.ts';
import type { Pets } from '../state/pets.ts';
import type { ReadStock, Stock } from './row-write.ts';

/** Reads the stock for a run. */
export interface StockReader {
  /** One GET, unless no pet is asked for. What other commands write from here on is noticed before a row is written. */
  readonly readStock: ReadStock;
  /** The same for a plan: first waits until no request of a command that was stopped can still change what is read. */
  readSettledStock(petIds: PetIds, exceptRun?: string): Promise<PlanStock>;
}

export interface PlanStock extends Stock {
  /** When it was read, by the monotonic clock. */
  readonly readAt: number;
}

export interface StockReaderOptions {
  readonly client: Pick<Client, 'scanInventory'>;
  readonly pets: Pick<Pets, 'mark' | 'arrivesUntil'>;
  readonly service: string;
  readonly clock: Clock;
  readonly interrupted: AbortSignal;
  /** A sentence about what is waited for, without its period. */
  onDelay(sentence: string): Promise<void> | void;
}

export function createStockReader({
  client,
  pets,
  service,
  clock,
  interrupted,
  onDelay,
}: StockReaderOptions): StockReader {
  const readStock: ReadStock = async (petIds, permit) => {
    const mark = await pets.mark();
    // A run that has nothing to look at spends no request.
    return { mark, quantities: petIds.size === 0 ? new Map() : await quantitiesOf(client, petIds, permit) };
  };
  const readSettledStock: StockReader['readSettledStock'] = async (petIds, exceptRun) => {
    for (;;) {
      const readAt = clock.monotonic();
      const until = await pets.arrivesUntil(service, petIds, exceptRun);
      if (until === undefined || until <= readAt) return { ...(await readStock(petIds)), readAt };
      const seconds = Math.ceil((until - readAt) / 1000);
      await onDelay(
        `A request of a command that was stopped may still arrive at the service; reading the stock in ${seconds} s`,
      );
      await clock.sleep(Math.ceil(until - readAt), interrupted);
    }
  };
  return { readStock, readSettledStock };
}

/** A pet that the service does not have is missing. */
async function quantitiesOf(
  client: Pick<Client, 'scanInventory'>,
  petIds: PetIds,
  permit: Permit | undefined,
): Promise<Quantities> {
  const wanted = petIds instanceof PetIdSet ? petIds : new PetIdSet(petIds);
  const quantities = new PetQuantities(wanted);
  const onUnreadable = (item: UnreadableItem) => {
    if (wanted.has(item.petId)) quantities.unreadable.set(item.petId, item);
  };
  const batches = client.scanInventory({ permit, onUnreadable });
  await eachPicked(batches, wanted, ({ petId, quantity }) => quantities.set(petId, quantity));
  return quantities;
}
