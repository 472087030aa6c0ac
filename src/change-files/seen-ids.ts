import type { FaultList, PlaceUnit } from './fault.ts';

/**
 * The pet of each row and its line, as two columns of 8 bytes: a million rows are 16 MB, where a Map would take
 * five times that. Which ids are there twice is found out in the end.
 */
export class SeenIds {
  #ids = new BigInt64Array(1024);
  #lines = new Float64Array(1024);
  #size = 0;

  /** In the order of lines. */
  add(petId: bigint, line: number): void {
    if (this.#size === this.#ids.length) this.#grow();
    this.#ids[this.#size] = petId;
    this.#lines[this.#size] = line;
    this.#size += 1;
  }

  /** A fault for each row whose pet an earlier one has. */
  reportRepeated(faults: FaultList, unit: PlaceUnit): void {
    const repeated = this.#repeated();
    if (repeated.size === 0) return;
    const firstLines = new Map<bigint, number>();
    for (let row = 0; row < this.#size; row += 1) {
      const petId = this.#ids[row] ?? 0n;
      if (!repeated.has(petId)) continue;
      const line = this.#lines[row] ?? 0;
      const firstLine = firstLines.get(petId);
      if (firstLine === undefined) firstLines.set(petId, line);
      else
        faults.add({ line, message: `pet ${petId} is ${unit === 'line' ? 'on line' : 'item'} ${firstLine} already` });
    }
  }

  #repeated(): ReadonlySet<bigint> {
    const sorted = this.#ids.slice(0, this.#size).sort();
    const repeated = new Set<bigint>();
    for (let index = 1; index < sorted.length; index += 1) {
      const petId = sorted[index];
      if (petId !== undefined && petId === sorted[index - 1]) repeated.add(petId);
    }
    return repeated;
  }

  #grow(): void {
    const ids = new BigInt64Array(2 * this.#size);
    ids.set(this.#ids);
    this.#ids = ids;
    const lines = new Float64Array(2 * this.#size);
    lines.set(this.#lines);
    this.#lines = lines;
  }
}
