import { filled, splitPetId } from './item-columns.ts';
import { type UnreadableItem, unreadableText } from './items.ts';

/** Some pets. A Set of bigint is one. */
export type PetIds = Pick<ReadonlySet<bigint>, 'has' | 'size'> & Iterable<bigint>;

const leastCapacity = 16;

/**
 * A set of pet ids that knows the place of each, without an object for any of them: about 25 bytes an id in place of 70. An id
 * is two numbers, as in `ItemColumns`, so that items are looked up without a bigint.
 */
export class PetIdSet implements PetIds {
  /** How many there are; the place of the next. */
  size = 0;
  #heads = new Float64Array(leastCapacity);
  #tails = new Int32Array(leastCapacity);
  /** Places plus 1, by hash; 0 is free. A power of two, of which at most half are taken. */
  #slots = new Int32Array(2 * leastCapacity);

  constructor(petIds: Iterable<bigint> = []) {
    for (const petId of petIds) this.add(petId);
  }

  static of(petIds: PetIds): PetIdSet {
    return petIds instanceof PetIdSet ? petIds : new PetIdSet(petIds);
  }

  /** @returns the place of the id, from 0, in the order in which they came */
  add(petId: bigint): number {
    const { head, tail } = splitPetId(petId);
    return this.addParts(head, tail);
  }

  addParts(head: number, tail: number): number {
    const slot = this.#slotOf(head, tail);
    const found = this.#slots[slot] ?? 0;
    if (found > 0) return found - 1;
    const place = this.size;
    this.#heads[place] = head;
    this.#tails[place] = tail;
    this.size += 1;
    this.#slots[slot] = this.size;
    if (this.size === this.#heads.length) this.#grow();
    return place;
  }

  has(petId: bigint): boolean {
    return this.placeOf(petId) >= 0;
  }

  /** -1 for an id that is not in the set. */
  placeOf(petId: bigint): number {
    const { head, tail } = splitPetId(petId);
    return this.placeOfParts(head, tail);
  }

  placeOfParts(head: number, tail: number): number {
    return (this.#slots[this.#slotOf(head, tail)] ?? 0) - 1;
  }

  *[Symbol.iterator](): Generator<bigint, void, undefined> {
    for (let place = 0; place < this.size; place += 1) yield this.at(place);
  }

  /** @param place below `size` */
  at(place: number): bigint {
    return BigInt(this.#heads[place] ?? 0) * 1_000_000_000n + BigInt(this.#tails[place] ?? 0);
  }

  /** The slot of an id, or the free one where it would be. */
  #slotOf(head: number, tail: number): number {
    const mask = this.#slots.length - 1;
    // The upper bits of a product depend on all bits: ids that are a thousand or a million apart are spread, too.
    const mixed = Math.imul(tail ^ Math.imul(head | 0, 0x85ebca6b), 0x9e3779b1);
    let slot = mixed >>> (Math.clz32(mask) & 31);
    for (;;) {
      const place = (this.#slots[slot] ?? 0) - 1;
      if (place < 0 || (this.#tails[place] === tail && this.#heads[place] === head)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #grow(): void {
    this.#heads = filled(new Float64Array(2 * this.size), this.#heads);
    this.#tails = filled(new Int32Array(2 * this.size), this.#tails);
    this.#slots = new Int32Array(2 * this.#slots.length);
    for (let place = 0; place < this.size; place += 1) {
      this.#slots[this.#slotOf(this.#heads[place] ?? 0, this.#tails[place] ?? 0)] = place + 1;
    }
  }
}

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

/** Reports whether the service has no such pet: it is not one whose stock can't be relied on. */
export function isAbsent(quantities: Quantities, petId: bigint): boolean {
  return !quantities.has(petId) && !quantities.unreadable?.has(petId) && !quantities.outdated?.has(petId);
}
