import type { PetIdSet } from './pet-id-set.ts';

/** The stock of some pets; one that is missing is not there. A Map is one. */
export type Quantities = Pick<ReadonlyMap<bigint, number>, 'get' | 'has'> & { keys(): Iterable<bigint> };

/** The stock of wanted pets, 8 bytes each beside the set of their ids. */
export class PetQuantities implements Quantities {
  readonly #petIds: PetIdSet;
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
