import type { Outcome } from './intents-and-outcomes.ts';

/** Once this many outcomes wait, they are written without waiting for more. */
const maxWaiting = 1024;

/**
 * Buffers outcomes that are not written yet, and outcomes that were written but may not be on disk. A new connection
 * writes the second kind again, because a database that crashed or failed over may have lost them.
 */
export class OutcomeBuffer {
  readonly #waiting = new Map<number, Outcome>();
  /** The outcomes that may not be on disk, each with the generation of the connection that wrote it. */
  readonly #unsure = new Map<number, { readonly outcome: Outcome; readonly generation: number }>();

  /** Number of rows whose outcome has not been written. */
  get waiting(): number {
    return this.#waiting.size;
  }

  get isFull(): boolean {
    return this.#waiting.size >= maxWaiting;
  }

  add(outcomes: readonly Outcome[]): void {
    for (const outcome of outcomes) this.#waiting.set(outcome.row, outcome);
  }

  /** Returns the last outcome of each row that the connection has to write. They stay in the buffer until `written`. */
  take(generation: number): ReadonlyMap<number, Outcome> {
    const again = this.mustRepeat(generation) ? [...this.#unsure.values()] : [];
    return new Map([...again.map(({ outcome }) => [outcome.row, outcome] as const), ...this.#waiting]);
  }

  /**
   * Removes written outcomes from the buffer, but keeps those that may not be on disk, to repeat them.
   * @param taken the outcomes that `take` returned
   * @param takenFor the generation that they were taken for
   * @param isDurable whether these outcomes, and all earlier writes of the same connection, are on disk
   * @param generation the generation of the connection that confirmed them
   */
  written(taken: ReadonlyMap<number, Outcome>, takenFor: number, isDurable: boolean, generation: number): void {
    for (const [row, outcome] of taken) {
      if (this.#waiting.get(row) === outcome) this.#waiting.delete(row);
      this.#unsure.delete(row);
      if (!isDurable) this.#unsure.set(row, { outcome, generation });
    }
    if (isDurable && takenFor === generation) this.#unsure.clear();
  }

  /** Drops earlier outcomes of rows that are sent again, so that they don't overwrite the new ones. */
  drop(rows: readonly number[]): void {
    for (const row of rows) this.#unsure.delete(row);
  }

  /** Reports whether this connection has to repeat writes of an earlier connection. */
  mustRepeat(generation: number): boolean {
    return [...this.#unsure.values()].some((written) => written.generation !== generation);
  }
}
