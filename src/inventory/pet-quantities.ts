import { type UnreadableItem, unreadableText } from './items.ts';
import type { PetIdSet } from './pet-id-set.ts';

/** The stock of some pets; one that is missing is not there, or can't be read. A Map is one. */
export type Quantities = Pick<ReadonlyMap<bigint, number>, 'get' | 'has'> & {
  keys(): Iterable<bigint>;
  readonly unreadable?: ReadonlyMap<bigint, UnreadableItem>;
};

/** Why a pet that had a stock is without one: a clause without a trailing period. */
export function absenceText({ unreadable }: Quantities, petId: bigint): string {
  const item = unreadable?.get(petId);
  return item === undefined ? `there is no pet ${petId} any more` : unreadableText(item);
}

/** The stock of wanted pets, 8 bytes each beside the set of their ids. */
export class PetQuantities implements Quantities {
  readonly #petIds: PetIdSet;
  readonly unreadable = new Map<bigint, UnreadableItem>();
  /** By the place of the id; NaN where there is no such pet. */
  readonly #values: Float64Array;

  /** @param petIds all that are wanted: none is added any more */
  constructor(petIds: PetIdSet) {
    this.#petIds = petIds;
    this.#values = new Float64Array(petIds.size).fill(Number.NaN);
  }

  /** Of a wanted pet. */
  set(petId: bigint, quantity: number): void {
    this.#values[this.#petIds.placeOf(petId)] = quantity;
  }

  get(petId: bigint): number | undefined {
    const value = this.#values[this.#petIds.placeOf(petId)];
    return value === undefined || Number.isNaN(value) ? undefined : value;
  }

  has(petId: bigint): boolean {
    return this.get(petId) !== undefined;
  }

  *keys(): Generator<bigint, void, undefined> {
    for (const petId of this.#petIds) if (this.has(petId)) yield petId;
  }
}
