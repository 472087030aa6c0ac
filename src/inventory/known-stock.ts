import { type Difference, type StockEntry, StockList } from './stock-list.ts';

export interface StockPoll {
  readonly list: StockList;
  readonly unreadable: ReadonlyMap<bigint, unknown>;
}

/** A pet that is not in the last list. */
interface Absence {
  /** The pet's last readable stock; undefined if there was none yet. */
  readonly stock: StockEntry | undefined;
  /** Whether the pet was reported as removed: the response no longer has it, not even with an unreadable stock. */
  readonly isReported: boolean;
}

/**
 * Compares each poll with the last readable stock of each pet. Each change is reported once, even if polls in between
 * were unreadable or lacked the pet.
 */
export class KnownStock {
  readonly #absent = new Map<bigint, Absence>();
  #before = StockList.empty;

  /** Takes the first poll; there is nothing to compare it with. */
  begin({ list, unreadable }: StockPoll): void {
    this.#before = list;
    for (const petId of unreadable.keys()) this.#absent.set(petId, { stock: undefined, isReported: false });
  }

  /**
   * Takes another poll. Yields the changes since the last one in batches: by pet id, and then the pets that were
   * unreadable and no longer exist. The caller must read them to the end.
   */
  *changes({ list, unreadable }: StockPoll): Generator<readonly Difference[]> {
    const before = this.#before;
    this.#before = list;
    for (const batch of StockList.differences(before, list)) {
      const changes = batch.flatMap((difference) => this.#changeOf(difference, unreadable) ?? []);
      if (changes.length > 0) yield changes;
    }
    const removed = [...this.#removed(unreadable)];
    if (removed.length > 0) yield removed;
    for (const petId of unreadable.keys()) {
      if (!this.#absent.has(petId)) this.#absent.set(petId, { stock: undefined, isReported: false });
    }
  }

  #changeOf(difference: Difference, unreadable: StockPoll['unreadable']): Difference | undefined {
    const { petId, change, left, right } = difference;
    if (change === 'removed') {
      const isReported = !unreadable.has(petId);
      this.#absent.set(petId, { stock: left, isReported });
      return isReported ? difference : undefined;
    }
    const absence = this.#absent.get(petId);
    if (change !== 'added' || absence === undefined || right === undefined) return difference;
    this.#absent.delete(petId);
    const { stock, isReported } = absence;
    if (isReported) return { petId, change, left: stock, right };
    const isSame = stock?.quantity === right.quantity && stock.status === right.status;
    return stock === undefined || isSame ? undefined : { petId, change: 'changed', left: stock, right };
  }

  *#removed(unreadable: StockPoll['unreadable']): Generator<Difference> {
    for (const [petId, { stock, isReported }] of this.#absent) {
      if (isReported || unreadable.has(petId)) continue;
      if (stock === undefined) {
        this.#absent.delete(petId);
        continue;
      }
      this.#absent.set(petId, { stock, isReported: true });
      yield { petId, change: 'removed', left: stock, right: undefined };
    }
  }
}
