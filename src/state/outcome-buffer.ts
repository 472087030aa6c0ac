import type { Outcome } from './history.ts';

/** The outcomes that are to be written at a time. */
export interface Taken {
  /** The last one of each row. */
  readonly outcomes: readonly Outcome[];
  readonly all: readonly Outcome[];
  /** The number of the connection that they are for. */
  readonly generation: number;
}

/**
 * Outcomes that wait to be written, and those that were written but may not be on a disk yet: a database that has crashed since,
 * or another one that has taken over, may lack them, so a new connection writes them again.
 */
export class OutcomeBuffer {
  readonly #waiting = new Set<Outcome>();
  /** By the number of the connection that has written each. */
  readonly #unsure = new Map<Outcome, number>();

  /** How many have not been written. */
  get waiting(): number {
    return this.#waiting.size;
  }

  add(outcomes: readonly Outcome[]): void {
    for (const outcome of outcomes) this.#waiting.add(outcome);
  }

  /** They stay until `written`. */
  take(generation: number): Taken {
    const all = [...(this.mustRepeat(generation) ? this.#unsure.keys() : []), ...this.#waiting];
    return { outcomes: [...new Map(all.map((outcome) => [outcome.row, outcome])).values()], all, generation };
  }

  /**
   * @param isDurable whether they are on a disk, and so is all that the same connection had written before
   * @param generation of the connection that said so
   */
  written({ outcomes, all, generation: takenFor }: Taken, isDurable: boolean, generation: number): void {
    for (const outcome of all) {
      this.#waiting.delete(outcome);
      this.#unsure.delete(outcome);
    }
    if (isDurable && takenFor === generation) this.#unsure.clear();
    if (!isDurable) for (const outcome of outcomes) this.#unsure.set(outcome, generation);
  }

  /** Rows are sent anew: what became of them before must not be written over that. */
  forget(rows: ReadonlySet<number>): void {
    for (const outcome of this.#unsure.keys()) if (rows.has(outcome.row)) this.#unsure.delete(outcome);
  }

  /** Whether a connection has to write again what another one has written. */
  mustRepeat(generation: number): boolean {
    return [...this.#unsure.values()].some((written) => written !== generation);
  }
}
