import { type ColumnBatches, type ItemColumns, requireRoom } from './item-columns.ts';

interface IdSequence {
  readonly first: bigint;
  /** The difference between two neighbouring ids; 0 while there is only one. */
  step: bigint;
  last: bigint;
}

/**
 * The pets seen so far in a list. As long as ids increase in equal steps, as they usually do, only the start and end of
 * each sequence is kept, so that five million ids take hardly any memory. An id below an earlier one is kept by itself,
 * which takes about 70 bytes.
 */
export class SeenPets {
  /** In ascending order. */
  readonly #sequences: IdSequence[] = [];
  readonly #others = new Set<bigint>();

  /** @returns whether the id is new */
  add(petId: bigint): boolean {
    const current = this.#sequences.at(-1);
    if (current === undefined || petId > current.last) {
      this.#append(petId, current);
      return true;
    }
    if (this.#isInSequence(petId) || this.#others.has(petId)) return false;
    requireRoom(this.#others.size + 1);
    this.#others.add(petId);
    return true;
  }

  #append(petId: bigint, current: IdSequence | undefined): void {
    const step = current === undefined ? 0n : petId - current.last;
    if (current !== undefined && (current.step === step || current.step === 0n)) {
      current.step = step;
      current.last = petId;
    } else this.#sequences.push({ first: petId, step: 0n, last: petId });
  }

  #isInSequence(petId: bigint): boolean {
    let [low, high] = [0, this.#sequences.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#sequences[middle]?.first ?? 0n) <= petId) low = middle + 1;
      else high = middle;
    }
    const sequence = this.#sequences[low - 1];
    if (sequence === undefined || petId > sequence.last) return false;
    const { first, step } = sequence;
    return petId === first || (step > 0n && (petId - first) % step === 0n);
  }
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
    batch.keep((index) => {
      const petId = batch.petIdAt(index);
      const isNew = seen.add(petId);
      if (!isNew) onRepeated(petId);
      return isNew;
    });
    yield batch;
  }
}
