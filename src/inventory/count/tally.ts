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
  /** `was`: the units before, or undefined if nothing of that had been counted. */
  readonly #steps: (CountStep & { readonly was: number | undefined })[] = [];

  /** Lines that count, those that were taken back left out. */
  get scans(): number {
    return this.#steps.length;
  }

  /** Reports whether there is no pet, and no unit of an unknown code. */
  get isEmpty(): boolean {
    return this.pets === 0 && this.unknownUnits === 0;
  }

  add(what: Counted, units: number): CountStep {
    return this.set(what, this.unitsOf(what) + units);
  }

  set(what: Counted, after: number): CountStep {
    const step = { what, before: this.unitsOf(what), after, was: this.#units.get(what) };
    this.#steps.push(step);
    this.#put(what, after);
    return step;
  }

  /** Adds units that no `takeBack` reaches, such as those of sessions that were merged. */
  base(what: Counted, units: number): undefined {
    this.#put(what, this.unitsOf(what) + units);
  }

  /** Leaves so many units of something, or nothing of it. No `takeBack` reaches what came before. */
  rest(what: Counted, units: number): void {
    this.#steps.length = 0;
    this.#put(what, units > 0 ? units : undefined);
  }

  /** @returns the step that is gone; undefined if there was none */
  takeBack(): CountStep | undefined {
    const step = this.#steps.pop();
    if (step !== undefined) this.#put(step.what, step.was);
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

  /** @param units undefined: nothing of that was counted */
  #put(what: Counted, units: number | undefined): void {
    const was = this.#units.get(what);
    const more = (units ?? 0) - (was ?? 0);
    if (typeof what === 'string') this.unknownUnits += more;
    else {
      this.units += more;
      this.pets += Number(units !== undefined) - Number(was !== undefined);
    }
    if (units === undefined) this.#units.delete(what);
    else this.#units.set(what, units);
  }
}
