/** The thing that is counted: a pet, or a code whose pet is not known. */
export type Counted = bigint | string;

/** The meaning of the scans: the stock (`count`), arrived units (`add`), or removed units (`take`). */
export type CountMode = 'count' | 'add' | 'take';

export interface CountStep {
  readonly what: Counted;
  /** The units before; undefined if the pet or code was not counted yet. */
  readonly before: number | undefined;
  readonly after: number;
}

/** The sums of a count so far: units by pet and by unknown code, in the order in which each was first counted. */
export class Tally {
  units = 0;
  unknownUnits = 0;
  /** Number of counted pets, including those with 0 units. */
  pets = 0;
  /** Number of steps that were not taken back. */
  scans = 0;
  readonly #units = new Map<Counted, number>();

  /** Whether the tally contains no pet, and no unit of an unknown code. */
  get isEmpty(): boolean {
    return this.pets === 0 && this.unknownUnits === 0;
  }

  add(what: Counted, units: number): CountStep {
    return this.set(what, this.unitsOf(what) + units);
  }

  set(what: Counted, after: number): CountStep {
    const step = { what, before: this.#units.get(what), after };
    this.scans += 1;
    this.#put(what, after);
    return step;
  }

  /** Takes back the last step. */
  takeBack({ what, before }: CountStep): void {
    this.scans -= 1;
    this.#put(what, before);
  }

  unitsOf(what: Counted): number {
    return this.#units.get(what) ?? 0;
  }

  *counts(): Generator<readonly [petId: bigint, units: number]> {
    for (const [what, units] of this.#units) if (typeof what === 'bigint') yield [what, units];
  }

  /** Yields each unknown code with its units. A code that was set to 0 no longer counts. */
  *unknowns(): Generator<readonly [code: string, units: number]> {
    for (const [what, units] of this.#units) if (typeof what === 'string' && units > 0) yield [what, units];
  }

  /** @param units the new units; undefined if the pet or code is no longer counted */
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
