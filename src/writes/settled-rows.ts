import type { Settlement } from './row-write.ts';

const applied: Settlement = { result: 'applied' };

/** What became of rows, by their number: a byte for each of those that were applied, which are nearly all. */
export class SettledRows {
  size = 0;
  /** 1: applied. */
  #applied = new Uint8Array(64);
  readonly #others = new Map<number, Settlement>();

  has(row: number): boolean {
    return this.#applied[row] === 1 || this.#others.has(row);
  }

  get(row: number): Settlement | undefined {
    return this.#applied[row] === 1 ? applied : this.#others.get(row);
  }

  set(row: number, settlement: Settlement): void {
    if (!this.has(row)) this.size += 1;
    // One that was applied as it was asked for has nothing else to say.
    if (settlement.result === 'applied') this.#apply(row);
    else {
      if (row < this.#applied.length) this.#applied[row] = 0;
      this.#others.set(row, settlement);
    }
  }

  #apply(row: number): void {
    if (row >= this.#applied.length) {
      const applied = new Uint8Array(2 * row);
      applied.set(this.#applied);
      this.#applied = applied;
    }
    this.#applied[row] = 1;
  }
}
