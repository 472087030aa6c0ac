/*
 * Columns of values by the number of their row, from 0: what a hundred thousand rows hold, without an object for each of them.
 */

const leastCapacity = 16;

/** Pet ids: 8 bytes each. */
export class IdColumn {
  #values = new BigInt64Array(leastCapacity);
  length = 0;

  push(petId: bigint): void {
    if (this.length === this.#values.length) {
      const values = new BigInt64Array(2 * this.length);
      values.set(this.#values);
      this.#values = values;
    }
    this.#values[this.length] = petId;
    this.length += 1;
  }

  at(row: number): bigint {
    return this.#values[row] ?? 0n;
  }
}

/** Numbers that may be absent: 8 bytes each, none at all while all are absent. NaN is no value of it. */
export class NumberColumn {
  #values: Float64Array | undefined;

  set(row: number, value: number | undefined): void {
    if (value === undefined && this.#values === undefined) return;
    this.#values ??= new Float64Array(Math.max(leastCapacity, 2 * row)).fill(Number.NaN);
    if (row >= this.#values.length) {
      const values = new Float64Array(2 * row).fill(Number.NaN, this.#values.length);
      values.set(this.#values);
      this.#values = values;
    }
    this.#values[row] = value ?? Number.NaN;
  }

  at(row: number): number | undefined {
    const value = this.#values?.[row];
    return value === undefined || Number.isNaN(value) ? undefined : value;
  }
}

/** Texts that may be absent, set in the order of their rows. As long as all rows have the same one, it is held once. */
export class TextColumn {
  #length = 0;
  #common: string | undefined;
  #values: (string | undefined)[] | undefined;

  push(value: string | undefined): void {
    if (this.#length === 0) this.#common = value;
    else if (this.#values === undefined && value !== this.#common) {
      this.#values = new Array<string | undefined>(this.#length).fill(this.#common);
    }
    this.#values?.push(value);
    this.#length += 1;
  }

  at(row: number): string | undefined {
    return this.#values === undefined ? this.#common : this.#values[row];
  }
}
