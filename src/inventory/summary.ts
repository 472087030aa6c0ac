import type { Quantity } from './item-fields.ts';
import type { ItemBatches } from './items.ts';
import { compareStatuses, petStatuses } from './statuses.ts';

export interface Total {
  readonly pets: number;
  readonly units: bigint;
}

export interface Summary extends Total {
  /** Available, pending and sold are always present. Unknown statuses follow, ordered by their code units. */
  readonly byStatus: ReadonlyMap<string, Total>;
}

/** Counts items as they arrive, so that a list of any length needs no array. */
export async function summarize(batches: ItemBatches): Promise<Summary> {
  const counters = new Map<string, Counter>(petStatuses.map((status) => [status, new Counter()]));
  for await (const items of batches) {
    for (const { status, quantity } of items) {
      let counter = counters.get(status);
      if (counter === undefined) {
        counter = new Counter();
        counters.set(status, counter);
      }
      counter.add(quantity);
    }
  }
  const sorted = [...counters].sort(([left], [right]) => compareStatuses(left, right));
  const byStatus = new Map(sorted.map(([status, counter]) => [status, counter.total()]));
  let pets = 0;
  let units = 0n;
  for (const total of byStatus.values()) {
    pets += total.pets;
    units += total.units;
  }
  return { pets, units, byStatus };
}

/** Adds plain numbers, because that is fast, and in a bigint what the sum can't take. */
class Counter {
  #pets = 0;
  #small = 0;
  #carried = 0n;

  add(quantity: Quantity): void {
    this.#pets += 1;
    const sum = typeof quantity === 'number' ? this.#small + quantity : Number.NaN;
    if (Number.isSafeInteger(sum)) this.#small = sum;
    else this.#carried += BigInt(quantity);
  }

  total(): Total {
    return { pets: this.#pets, units: this.#carried + BigInt(this.#small) };
  }
}
