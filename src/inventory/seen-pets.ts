import type { ColumnBatches, ItemColumns } from './item-columns.ts';
import { PetIdSet } from './pet-id-set.ts';

/**
 * The pets that a list has named so far. As long as their ids go up in equal steps, as most do, no more is kept than where each step
 * begins and ends: five million take no memory. Ids that go down are kept one by one.
 */
export class SeenPets {
  /** Runs of ids with one head: the first tail, the step, and the last tail. */
  readonly #heads: number[] = [];
  readonly #firsts: number[] = [];
  readonly #steps: number[] = [];
  readonly #lasts: number[] = [];
  readonly #others = new PetIdSet();
  #head = Number.NEGATIVE_INFINITY;
  #tail = 0;

  /** Takes the next id, as `ItemColumns` has it. @returns false if it was there before */
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

  #append(head: number, tail: number): void {
    const run = this.#heads.length - 1;
    const step = tail - this.#tail;
    const isFollowing = head === this.#head && (this.#steps[run] === step || this.#steps[run] === 0);
    if (isFollowing) {
      this.#steps[run] = step;
      this.#lasts[run] = tail;
    } else {
      this.#heads.push(head);
      this.#firsts.push(tail);
      this.#steps.push(0);
      this.#lasts.push(tail);
    }
    this.#head = head;
    this.#tail = tail;
  }

  #isInRun(head: number, tail: number): boolean {
    let [low, high] = [0, this.#heads.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = (this.#heads[middle] ?? 0) - head || (this.#firsts[middle] ?? 0) - tail;
      if (order <= 0) low = middle + 1;
      else high = middle;
    }
    const run = low - 1;
    const first = this.#firsts[run] ?? 0;
    if (this.#heads[run] !== head || tail > (this.#lasts[run] ?? 0)) return false;
    return tail === first || (tail - first) % (this.#steps[run] ?? 1) === 0;
  }
}

/** Yields the batches with each pet once: the first item of each. @param onRepeated is called for every other one */
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

/** Leaves in a batch the items whose pets have not been seen. @param onRepeated is called for every other one */
export function keepFirst(batch: ItemColumns, seen: SeenPets, onRepeated: (petId: bigint) => void): void {
  const { heads, tails } = batch;
  batch.keep((index) => {
    const isNew = seen.add(heads[index] ?? 0, tails[index] ?? 0);
    if (!isNew) onRepeated(batch.petIdAt(index));
    return isNew;
  });
}
