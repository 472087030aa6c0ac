import type { Outcome } from './history.ts';

/** The outcomes that are to be written at a time. */
export interface Taken {
  /** The last one of each row. */
  readonly outcomes: readonly Outcome[];
  readonly all: ReadonlySet<Outcome>;
  /** The number of the wire that they are for. */
  readonly generation: number;
}

/**
 * Outcomes that wait to be written, and those that were written but may not be on a disk yet: a database that has crashed since,
 * or another one that has taken over, may lack them, so a new wire writes them again.
 */
export class OutcomeBuffer {
  #waiting: Outcome[] = [];
  #unsure: Outcome[] = [];
  /** The number of the wire that has written those. */
  #unsureOf = 0;

  /** How many have not been written. */
  get waiting(): number {
    return this.#waiting.length;
  }

  add(outcomes: readonly Outcome[]): void {
    this.#waiting.push(...outcomes);
  }

  /** They stay until `written`. */
  take(generation: number): Taken {
    const all = new Set([...(this.mustRepeat(generation) ? this.#unsure : []), ...this.#waiting]);
    const lastOfRows = new Map([...all].map((outcome) => [outcome.row, outcome]));
    return { outcomes: [...lastOfRows.values()], all, generation };
  }

  /**
   * @param isDurable whether they are on a disk, and so is all that the same wire had written before
   * @param generation of the wire that said so
   */
  written({ outcomes, all, generation: takenFor }: Taken, isDurable: boolean, generation: number): void {
    // More may have come while they were written.
    this.#waiting = this.#waiting.filter((outcome) => !all.has(outcome));
    this.#unsure = isDurable && takenFor === generation ? [] : this.#unsure.filter((outcome) => !all.has(outcome));
    if (isDurable) return;
    // What is left of a wire before keeps its number, and is written again.
    if (this.#unsure.length === 0) this.#unsureOf = generation;
    this.#unsure.push(...outcomes);
  }

  /** Rows are sent anew: what became of them before must not be written over that. */
  forget(rows: ReadonlySet<number>): void {
    this.#unsure = this.#unsure.filter(({ row }) => !rows.has(row));
  }

  /** Whether a wire has to write again what another one has written. */
  mustRepeat(generation: number): boolean {
    return this.#unsure.length > 0 && this.#unsureOf !== generation;
  }
}
