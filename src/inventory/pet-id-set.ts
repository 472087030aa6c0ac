import { type ColumnBatches, filled, type ItemColumns, requireRoom, splitPetId } from './item-columns.ts';

/** A set of pets, such as a Set of bigint. */
export type PetIds = Pick<ReadonlySet<bigint>, 'has' | 'size'> & Iterable<bigint>;

const minCapacity = 16;

/**
 * A set of pet ids with a position for each, without creating objects: about 25 bytes per id instead of 70. An id is
 * two numbers, as in `ItemColumns`, so items are looked up without a bigint.
 */
export class PetIdSet implements PetIds {
  /** The number of ids, and the position of the next one. */
  size = 0;
  #heads = new Float64Array(minCapacity);
  #tails = new Int32Array(minCapacity);
  /** Positions plus 1, by hash; 0 is free. The length is a power of two, and at most half of the slots are used. */
  #slots = new Int32Array(2 * minCapacity);

  constructor(petIds: Iterable<bigint> = []) {
    for (const petId of petIds) this.add(petId);
  }

  static of(petIds: PetIds): PetIdSet {
    return petIds instanceof PetIdSet ? petIds : new PetIdSet(petIds);
  }

  /** @returns the position of the id, from 0, in the order of addition */
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

  /** Returns -1 for an id that is not in the set. */
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

  /** @param place less than `size` */
  at(place: number): bigint {
    return BigInt(this.#heads[place] ?? 0) * 1_000_000_000n + BigInt(this.#tails[place] ?? 0);
  }

  /** Returns the slot of an id, or the free slot for it. */
  #slotOf(head: number, tail: number): number {
    const mask = this.#slots.length - 1;
    // The upper bits of the product depend on all bits, so ids that are a thousand or a million apart are spread, too.
    const mixed = Math.imul(tail ^ Math.imul(head | 0, 0x85ebca6b), 0x9e3779b1);
    let slot = mixed >>> (Math.clz32(mask) & 31);
    for (;;) {
      const place = (this.#slots[slot] ?? 0) - 1;
      if (place < 0 || (this.#tails[place] === tail && this.#heads[place] === head)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #grow(): void {
    requireRoom(this.size + 1);
    this.#heads = filled(new Float64Array(2 * this.size), this.#heads);
    this.#tails = filled(new Int32Array(2 * this.size), this.#tails);
    this.#slots = new Int32Array(2 * this.#slots.length);
    for (let place = 0; place < this.size; place += 1) {
      this.#slots[this.#slotOf(this.#heads[place] ?? 0, this.#tails[place] ?? 0)] = place + 1;
    }
  }
}

/**
 * The pets seen so far in a list. As long as ids increase in equal steps, as they usually do, only the start and end of
 * each sequence is kept, so that five million ids take hardly any memory. Decreasing ids are kept one by one.
 */
export class SeenPets {
  /** Finished sequences of ids with the same head: first tail, step, and last tail. */
  readonly #heads: number[] = [];
  readonly #firsts: number[] = [];
  readonly #steps: number[] = [];
  readonly #lasts: number[] = [];
  readonly #others = new PetIdSet();
  /** The current sequence. Its step is 0 while it has one id. */
  #head = Number.NEGATIVE_INFINITY;
  #first = 0;
  #step = 0;
  #tail = 0;

  add(head: number, tail: number): boolean {
    if (head > this.#head || (head === this.#head && tail > this.#tail)) {
      this.#append(head, tail);
      return true;
    }
    if (this.#isInRun(head, tail)) return false;
    const { size } = this.#others;
    this.#others.addParts(head, tail);
    return this.#others.size > size;
  }

  /**
   * Takes the ids at the start of a batch that continue the current sequence. Usually that is the whole batch.
   * @returns the number of these ids
   */
  follow({ heads, tails, length }: Pick<ItemColumns, 'heads' | 'tails' | 'length'>): number {
    const [head, step] = [this.#head, this.#step];
    let tail = this.#tail;
    let count = 0;
    while (step > 0 && count < length && heads[count] === head && tails[count] === tail + step) {
      tail += step;
      count += 1;
    }
    this.#tail = tail;
    return count;
  }

  #append(head: number, tail: number): void {
    const step = tail - this.#tail;
    if (head === this.#head && (this.#step === step || this.#step === 0)) {
      this.#step = step;
    } else {
      if (this.#head !== Number.NEGATIVE_INFINITY) this.#end();
      this.#head = head;
      this.#first = tail;
      this.#step = 0;
    }
    this.#tail = tail;
  }

  #end(): void {
    this.#heads.push(this.#head);
    this.#firsts.push(this.#first);
    this.#steps.push(this.#step);
    this.#lasts.push(this.#tail);
  }

  #isInRun(head: number, tail: number): boolean {
    if (head === this.#head && tail >= this.#first) return isStep(tail - this.#first, this.#step);
    let [low, high] = [0, this.#heads.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = (this.#heads[middle] ?? 0) - head || (this.#firsts[middle] ?? 0) - tail;
      if (order <= 0) low = middle + 1;
      else high = middle;
    }
    const run = low - 1;
    if (this.#heads[run] !== head || tail > (this.#lasts[run] ?? 0)) return false;
    return isStep(tail - (this.#firsts[run] ?? 0), this.#steps[run] ?? 0);
  }
}

/** Reports whether a distance is a multiple of the step. A step of 0 belongs to a sequence with one id. */
function isStep(distance: number, step: number): boolean {
  return distance === 0 || (step > 0 && distance % step === 0);
}

/**
 * Yields the batches with only the first item of each pet.
 * @param onRepeated called for each further item of a pet
 */
export async function* withoutRepeated(
  batches: ColumnBatches,
  onRepeated: (petId: bigint) => void,
): AsyncGenerator<ItemColumns> {
  const seen = new SeenPets();
  for await (const batch of batches) {
    keepFirst(batch, seen, onRepeated);
    yield batch;
  }
}

function keepFirst(batch: ItemColumns, seen: SeenPets, onRepeated: (petId: bigint) => void): void {
  const { heads, tails } = batch;
  const known = seen.follow(batch);
  if (known === batch.length) return;
  batch.keep((index) => {
    const isNew = index < known || seen.add(heads[index] ?? 0, tails[index] ?? 0);
    if (!isNew) onRepeated(batch.petIdAt(index));
    return isNew;
  });
}
