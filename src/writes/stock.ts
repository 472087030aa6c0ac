import type { Client, ReadOptions } from '../api/client.ts';
import { eachPicked } from '../inventory/filter.ts';
import { type InventoryItem, PetQuantities } from '../inventory/items.ts';
import type { Limits } from '../rate-limit/limits.ts';
import type { Clock } from '../shared/clock.ts';
import { FailureError } from '../shared/errors.ts';
import { countersOf, inFlightElsewhere, lastIntent, lastWriteOf, lastWritten, otherWriteOf } from '../state/intents.ts';
import type { LastWrite } from '../state/open-run.ts';
import type { Store } from '../state/store.ts';
import { maxReplicaLag } from './rows.ts';

/** The stock of some pets, and what the history knew right before it was read. */
export interface Stock {
  readonly quantities: PetQuantities;
  /** When it was read, in milliseconds of the monotonic clock. */
  readonly at: number;
  /** The last intent before it was read. */
  readonly last: number;
  /**
   * For each pet to which a request was under way: the last intent before that request. It may arrive after the read,
   * so the stock counts as older.
   */
  readonly older: ReadonlyMap<bigint, number>;
}

/** Returns the last intent that a stock shows of a pet: the `basis` of a row that relies on it. */
export function basisOf({ last, older }: Stock, petId: bigint): number {
  return older.get(petId) ?? last;
}

/** The pets whose stock is read: a set of ids, or all. */
export type PickedPets = Pick<ReadonlySet<bigint>, 'has' | 'size'>;
export const everyPet: PickedPets = { has: () => true, size: Number.POSITIVE_INFINITY };

export interface StockReader {
  readonly client: Pick<Client, 'scanInventory'>;
  /** Called with each item that was asked for. */
  onItem?(item: InventoryItem): void;
  /** Called with every item of the list. */
  onEachItem?(item: InventoryItem): void;
}

/**
 * Reads the list of the service, and keeps the stock of some pets.
 * @param mustHaveItems whether an empty list is an error, because the service had the pets before
 */
export async function readQuantities(
  { client, onItem, onEachItem }: StockReader,
  petIds: PickedPets,
  options: ReadOptions,
  mustHaveItems: boolean,
): Promise<PetQuantities> {
  const quantities = new PetQuantities();
  let isEmpty = true;
  const noting = async function* () {
    for await (const items of client.scanInventory(options)) {
      if (items.length > 0) isEmpty = false;
      if (onEachItem !== undefined) for (const item of items) onEachItem(item);
      yield items;
    }
  };
  await eachPicked(noting(), petIds, (item) => {
    const { petId, quantity } = item;
    if (typeof quantity === 'number') quantities.set(petId, quantity);
    else quantities.unreadable.set(petId, quantity);
    onItem?.(item);
  });
  if (isEmpty && mustHaveItems) {
    throw new FailureError(
      "The service returned an empty list. That can't be right, because it had the pets of this run before",
    );
  }
  return quantities;
}

export interface PlanReader extends StockReader {
  readonly state: Pick<Store, 'ask'>;
  readonly limits: Pick<Limits, 'admitOne'>;
  readonly clock: Clock;
  readonly service: string;
  readonly interrupted: AbortSignal;
  /** Whether the service may have replicas that are behind. */
  readonly mayLag: boolean;
  onDelay(sentence: string): unknown;
  onWaitForOthers(sentence: string, ms: number): unknown;
}

/** Pause before looking again at a pet that another run is writing, in milliseconds. */
export const busyPause = 250;
/** How long to wait before a stock is read again that may come from a replica that is behind, in milliseconds. */
export const lagPause = 1000;

export interface ReadStockOptions extends Pick<ReadOptions, 'once' | 'timeout'> {
  /** The run that is written, whose own requests don't count; undefined before it has begun. */
  readonly run?: string;
}

/**
 * Reads the stock outside of a turn. A stock that may come from a replica that is behind is read again once; then it is
 * in `outdated`.
 */
export async function readStock(
  reader: PlanReader,
  petIds: PickedPets,
  { run = '', ...options }: ReadStockOptions = {},
): Promise<Stock> {
  const { state, limits, clock, interrupted, mayLag, onDelay, service } = reader;
  // A run without a row to look at sends no request.
  if (petIds.size === 0)
    return { quantities: new PetQuantities(), at: clock.monotonic(), ...(await lookUp(reader, run)) };
  for (let isSecondRead = false; ; isSecondRead = true) {
    await waitForOthers(reader, petIds, run);
    const permit = await limits.admitOne(interrupted);
    const { last, older } = await lookUp(reader, run);
    const quantities = await readQuantities(reader, petIds, { ...options, permit }, run !== '');
    const at = clock.monotonic();
    const stock = { quantities, at, last, older };
    if (!mayLag) return stock;
    const { answers, moment } = await state.ask(lastWritten(service, [...quantities.keys()]));
    const lagging = answers
      .flat()
      .map(lastWriteOf)
      .filter((write) => isLagging(write, quantities, moment.now));
    const [pet] = lagging;
    if (pet === undefined) return stock;
    if (!isSecondRead) {
      await onDelay(`The service may have returned an outdated stock of pet ${pet.petId}; reading it again`);
      await clock.sleep(lagPause, interrupted);
      continue;
    }
    for (const { petId, quantity: written } of lagging) {
      quantities.outdated.set(petId, { found: quantities.get(petId) ?? 0, written });
      quantities.delete(petId);
    }
    return stock;
  }
}

/** Returns what the history knows now. `wait`: until no request of a `run` can be under way to these pets, in milliseconds. */
async function lookUp(
  { state, service }: Pick<PlanReader, 'state' | 'service'>,
  run: string,
  petIds: PickedPets = new Set<bigint>(),
): Promise<Pick<Stock, 'last' | 'older'> & { readonly wait: number; readonly run: string }> {
  // In this order: an intent between the two has a higher number than the last.
  const { answers, moment } = await state.ask([lastIntent(service), inFlightElsewhere({ service, run })]);
  const [counters, underWay = []] = answers;
  const { last } = countersOf(counters);
  const older = new Map<bigint, number>();
  let [wait, writer] = [0, ''];
  for (const { petId, run: other, intent, inFlightUntil = 0 } of underWay.map(otherWriteOf)) {
    if (inFlightUntil <= moment.now) continue;
    older.set(petId, Math.min(intent - 1, older.get(petId) ?? last));
    if (petIds.has(petId) && inFlightUntil - moment.now > wait) [wait, writer] = [inFlightUntil - moment.now, other];
  }
  return { last, older, wait, run: writer };
}

/** Waits while requests of other runs may be under way to some pets, because their stock may change. */
async function waitForOthers(reader: PlanReader, petIds: PickedPets, run: string): Promise<void> {
  const { clock, interrupted, onWaitForOthers } = reader;
  for (let isTold = false; ; ) {
    const { wait, run: other } = await lookUp(reader, run, petIds);
    if (wait === 0) return;
    if (!isTold && wait > 1000) {
      isTold = true;
      const seconds = Math.ceil(wait / 1000);
      await onWaitForOthers(
        `A request of run ${other} may still reach the service; reading the stock in ${seconds} s`,
        wait,
      );
    }
    await clock.sleep(Math.min(wait, busyPause), interrupted);
  }
}

/** Reports whether a stock is the one before a recent write. */
export function isLagging(
  { petId, before, quantity, at }: LastWrite,
  quantities: Pick<PetQuantities, 'get'>,
  now: number,
): boolean {
  const found = quantities.get(petId);
  return Math.abs(now - at) < maxReplicaLag && found !== undefined && found === before && found !== quantity;
}
