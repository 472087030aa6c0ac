import { type InventoryItem, type ItemBatches, petStatuses } from './items.ts';
import { compareStatuses } from './sort.ts';

export interface Tally {
  /** How many items. */
  readonly pets: number;
  /** The sum of their quantities. */
  readonly units: bigint;
}

export interface Summary extends Tally {
  /** Available, pending and sold, always present; then unknown statuses that occurred, by their code units. */
  readonly byStatus: ReadonlyMap<string, Tally>;
}

/** Counts items one by one, so that a list of any length needs no array. */
export interface Summarizer {
  add(item: InventoryItem): void;
  /** The counts so far. */
  summary(): Summary;
}

export function createSummarizer(): Summarizer {
  const counters = new Map<string, Counter>(petStatuses.map((status) => [status, new Counter()]));
  return {
    add(item) {
      let counter = counters.get(item.status);
      if (counter === undefined) {
        counter = new Counter();
        counters.set(item.status, counter);
      }
      counter.add(item.quantity);
    },
    summary() {
      const byStatus = new Map(
        [...counters]
          .sort(([left], [right]) => compareStatuses(left, right))
          .map(([status, counter]) => [status, counter.tally()]),
      );
      let pets = 0;
      let units = 0n;
      for (const tally of byStatus.values()) {
        pets += tally.pets;
        units += tally.units;
      }
      return { pets, units, byStatus };
    },
  };
}

export async function summarize(batches: ItemBatches): Promise<Summary> {
  const summarizer = createSummarizer();
  for await (const batch of batches) {
    for (const item of batch) summarizer.add(item);
  }
  return summarizer.summary();
}

/** Adds up as a number, which is fast, and carries into a bigint before that would lose a unit. */
class Counter {
  #pets = 0;
  #small = 0;
  #carried = 0n;

  add(quantity: number): void {
    this.#pets += 1;
    const sum = this.#small + quantity;
    if (Number.isSafeInteger(sum)) {
      this.#small = sum;
    } else {
      this.#carried += BigInt(this.#small);
      this.#small = quantity;
    }
  }

  tally(): Tally {
    return { pets: this.#pets, units: this.#carried + BigInt(this.#small) };
  }
}
