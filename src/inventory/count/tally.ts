/** The thing that is counted: a pet, or a code whose pet is not known. */
export type Counted = bigint | string;

export interface CountStep {
  readonly what: Counted;
  readonly before: number;
  readonly after: number;
}

/** The sums of a count so far: units by pet, and by unknown code, in the order in which they came first. */
export class Tally {
  units = 0;
  unknownUnits = 0;
  /** Pets that were counted, those with 0 units included. */
  pets = 0;
  readonly #units = new Map<Counted, number>();
  readonly #steps: (CountStep & { readonly wasThere: boolean })[] = [];

  /** Lines that count, those that were taken back left out. */
  get scans(): number {
    return this.#steps.length;
  }

  add(what: Counted, units: number): CountStep {
    return this.#step(what, this.unitsOf(what) + units);
  }

  set(what: Counted, units: number): CountStep {
    return this.#step(what, units);
  }

  /** Begins with units that no `takeBack` reaches: those of sessions that were merged. */
  base(what: Counted, units: number): void {
    this.#put(what, this.unitsOf(what) + units);
  }

  /** @returns the step that is gone; undefined if there was none */
  takeBack(): CountStep | undefined {
    const step = this.#steps.pop();
    if (step === undefined) return undefined;
    if (step.wasThere) this.#put(step.what, step.before);
    else this.#remove(step.what);
    return step;
  }

  unitsOf(what: Counted): number {
    return this.#units.get(what) ?? 0;
  }

  *counts(): Generator<readonly [petId: bigint, units: number]> {
    for (const [what, units] of this.#units) if (typeof what === 'bigint') yield [what, units];
  }

  /** Each unknown code with its units; one that was set to 0 does not count any more. */
  *unknowns(): Generator<readonly [code: string, units: number]> {
    for (const [what, units] of this.#units) if (typeof what === 'string' && units > 0) yield [what, units];
  }

  #step(what: Counted, after: number): CountStep {
    const step = { what, before: this.unitsOf(what), after, wasThere: this.#units.has(what) };
    this.#steps.push(step);
    this.#put(what, after);
    return step;
  }

  #put(what: Counted, units: number): void {
    this.#change(what, units - this.unitsOf(what), this.#units.has(what) ? 0 : 1);
    this.#units.set(what, units);
  }

  #remove(what: Counted): void {
    this.#change(what, -this.unitsOf(what), -1);
    this.#units.delete(what);
  }

  #change(what: Counted, units: number, pets: number): void {
    if (typeof what === 'string') this.unknownUnits += units;
    else {
      this.units += units;
      this.pets += pets;
    }
  }
}
