import type { Outcome } from './history.ts';

/**
 * Outcomes that wait to be written, and those that were written but may not be on a disk yet: a database that has crashed since,
 * or another one that has taken over, may lack them, so a new connection writes them again.
 */
export class OutcomeBuffer {
  readonly #waiting = new Map<number, Outcome>();
  /** With the number of the connection that has written each. */
  readonly #unsure = new Map<number, { readonly outcome: Outcome; readonly generation: number }>();

  /** How many rows have an outcome that has not been written. */
  get waiting(): number {
    return this.#waiting.size;
  }

  add(outcomes: readonly Outcome[]): void {
    for (const outcome of outcomes) this.#waiting.set(outcome.row, outcome);
  }

  /** Returns the last outcome of each row that is to be written by a connection. They stay until `written`. */
  take(generation: number): ReadonlyMap<number, Outcome> {
    const again = this.mustRepeat(generation) ? [...this.#unsure.values()] : [];
    return new Map([...again.map(({ outcome }) => [outcome.row, outcome] as const), ...this.#waiting]);
  }

  /**
   * @param taken for a connection
   * @param isDurable whether they are on a disk, and so is all that the same connection had written before
   * @param generation of the connection that said so
   */
  written(taken: ReadonlyMap<number, Outcome>, takenFor: number, isDurable: boolean, generation: number): void {
    for (const [row, outcome] of taken) {
      if (this.#waiting.get(row) === outcome) this.#waiting.delete(row);
      this.#unsure.delete(row);
      if (!isDurable) this.#unsure.set(row, { outcome, generation });
    }
    if (isDurable && takenFor === generation) this.#unsure.clear();
  }

  /** Rows are sent anew: what became of them before must not be written over that. */
  forget(rows: readonly number[]): void {
    for (const row of rows) this.#unsure.delete(row);
  }

  /** Whether a connection has to write again what another one has written. */
  mustRepeat(generation: number): boolean {
    return [...this.#unsure.values()].some((written) => written.generation !== generation);
  }
}
