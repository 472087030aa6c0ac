import { type UnreadableItem, unreadableText } from './items.ts';

/** The stock of some pets; one that is missing is not there, or can't be relied on. A Map is one. */
export type Quantities = Pick<ReadonlyMap<bigint, number>, 'get' | 'has' | 'keys'> & {
  readonly unreadable?: ReadonlyMap<bigint, UnreadableItem>;
  /** Pets that the service answered with an older stock than the one that was written last. */
  readonly outdated?: ReadonlyMap<bigint, OutdatedStock>;
};

/** A stock that was answered though a later one had been written. */
export interface OutdatedStock {
  readonly found: number;
  readonly written: number;
}

/** The stock of pets, with those that have none that can be relied on. */
export class PetQuantities extends Map<bigint, number> implements Quantities {
  readonly unreadable = new Map<bigint, UnreadableItem>();
  readonly outdated = new Map<bigint, OutdatedStock>();
}

/** Returns why such a stock is not relied on: a clause without a trailing period. */
export function outdatedText({ found, written }: OutdatedStock): string {
  return `the service answered with an older stock: ${found}, though ${written} was written a moment ago`;
}

/** Returns why a pet that had a stock is without one: a clause without a trailing period. */
export function absenceText({ unreadable, outdated }: Quantities, petId: bigint): string {
  const older = outdated?.get(petId);
  if (older !== undefined) return outdatedText(older);
  const item = unreadable?.get(petId);
  return item === undefined ? `there is no pet ${petId} any more` : unreadableText(item);
}
