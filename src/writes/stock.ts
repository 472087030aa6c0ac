import type { Client, ReadOptions } from '../api/client.ts';
import { eachPicked } from '../inventory/filter.ts';
import { type InventoryItem, PetQuantities, type Quantities } from '../inventory/items.ts';
import type { Limits } from '../rate-limit/limits.ts';
import type { Clock } from '../shared/clock.ts';
import { ConflictError, FailureError, PetstockError, RateLimitedError, UnavailableError } from '../shared/errors.ts';
import { sentence } from '../shared/parsed.ts';
import { countersOf, inFlightElsewhere, lastIntent, lastWriteOf, lastWritten, otherWriteOf } from '../state/intents.ts';
import type { LastWrite, OtherWrite } from '../state/open-run.ts';
import type { Store } from '../state/state-store.ts';
import { isLagging, isRecent, outdatedText } from './rows.ts';

/** The stock of some pets, and what the history knew right before it was read. */
export interface Stock {
  readonly quantities: PetQuantities;
  /** When it was read, in milliseconds of the monotonic clock. */
  readonly at: number;
  /** The state's time before it was read: what could still arrive then is not certain to be in it. */
  readonly since: number;
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
  readonly onItem?: ((item: InventoryItem) => void) | undefined;
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
}

/** How long to wait before a stock is read again that may come from a replica that is behind, in milliseconds. */
export const lagPause = 1000;

export interface ReadStockOptions extends Pick<ReadOptions, 'time'> {
  /** The run that is written, whose own requests don't count; undefined before it has begun. */
  readonly run?: string;
}

/**
 * Reads the stock outside of a turn.
 * @throws ConflictError if it comes from a replica that is behind, also a second later
 */
export async function readStock(
  reader: PlanReader,
  petIds: PickedPets,
  { run = '', ...options }: ReadStockOptions = {},
): Promise<Stock> {
  const { limits, clock, interrupted, onDelay } = reader;
  for (let isSecondRead = false; ; isSecondRead = true) {
    const permit = petIds.size === 0 ? undefined : await limits.admitOne(interrupted);
    const known = await underWay(reader, run);
    if (permit === undefined) return { quantities: new PetQuantities(), at: clock.monotonic(), ...known };
    const quantities = await readQuantities(reader, petIds, { ...options, permit }, run !== '');
    const stock = { quantities, at: clock.monotonic(), ...known };
    const lagging = await laggingPet(reader, quantities);
    if (lagging === undefined) return stock;
    const { petId } = lagging;
    if (isSecondRead) throw new ConflictError(`Pet ${petId}: ${outdatedText(quantities.get(petId), lagging)}`);
    await onDelay(`The service may have returned an outdated stock of pet ${petId}; reading it again`);
    await clock.sleep(lagPause, interrupted);
  }
}

/** Like `readStock`, before anything is written: an error that is not about what the user has typed says so. */
export function readStockToPlan(
  reader: PlanReader,
  petIds: PickedPets,
  options?: Pick<ReadOptions, 'time'>,
): Promise<Stock> {
  return readStock(reader, petIds, options).catch((error) => {
    const isVague = [UnavailableError, RateLimitedError, FailureError, ConflictError].some(
      (one) => error instanceof one,
    );
    if (!isVague || !(error instanceof PetstockError)) throw error;
    throw error.with({ message: `${sentence(error.message)} Nothing was written` });
  });
}

/** Returns what the history knows now: the last intent, and which requests of others may be under way. */
async function underWay(
  { state, service }: Pick<PlanReader, 'state' | 'service'>,
  run: string,
): Promise<Pick<Stock, 'since' | 'last' | 'older'>> {
  // In this order: an intent between the two has a higher number than the last.
  const { answers, moment } = await state.ask([lastIntent(service), inFlightElsewhere({ service, run })]);
  const { last } = countersOf(answers[0]);
  const others = (answers[1] ?? []).map(otherWriteOf);
  const inFlight = others.filter(({ inFlightUntil = 0 }) => inFlightUntil > moment.now);
  return { since: moment.now, last, older: olderBecauseOf(inFlight, last) };
}

/** @param inFlight the writes whose requests may be under way */
export function olderBecauseOf(inFlight: readonly OtherWrite[], last: number): Stock['older'] {
  const older = new Map<bigint, number>();
  for (const { petId, intent } of inFlight) older.set(petId, Math.min(intent - 1, older.get(petId) ?? last));
  return older;
}

/** Returns the recent write of a pet that a replica does not show yet. */
async function laggingPet({ state, service, mayLag }: PlanReader, stock: Quantities): Promise<LastWrite | undefined> {
  if (!mayLag) return undefined;
  const { answers, moment } = await state.ask(lastWritten(service, [...stock.keys()]));
  const writes = answers.flat().map(lastWriteOf);
  return writes.find((write) => isRecent(write, moment.now) && isLagging(write, stock.get(write.petId)));
}
