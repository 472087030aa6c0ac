import type { RecordedRow, RunRecord } from './run-records.ts';

/** What became of the stock of one pet in some time. */
export interface PetTotals {
  readonly serviceName: string;
  readonly env: string;
  readonly store: string | undefined;
  readonly petId: bigint;
  in: bigint;
  out: bigint;
  /** What stock-takes found more than there should have been, or fewer. */
  counted: bigint;
  /** Writes that are in none of these: it is not known what they changed. */
  unknown: number;
}

/** What a run is for the totals. */
export interface RunKind {
  /** It set the stock to what was counted, or it undoes such a run. */
  readonly isCount: boolean;
  /** It takes back what another run did; the undo of an undo does not. */
  readonly isReversal: boolean;
}

/** Adds rows of the history up by pet. Each service has pets of its own. */
export class Totals {
  readonly #pets = new Map<string, PetTotals>();

  /** Yields the pets, those of one service by their ids. */
  *pets(): Generator<PetTotals> {
    const places = ({ serviceName, env, store = '' }: PetTotals) => `${env} ${store} ${serviceName}`;
    yield* [...this.#pets.values()].sort(
      (one, other) => places(one).localeCompare(places(other)) || Number(one.petId - other.petId),
    );
  }

  /** Takes a row that may have been written. */
  add(run: RunRecord, { petId, result, before, after, quantity = after }: RecordedRow, kind: RunKind): void {
    if (result === 'unknown' || (before === undefined && (result === 'applied' || result === 'differs'))) {
      this.#of(run, petId).unknown += 1;
      return;
    }
    if (before === undefined || (result !== 'applied' && result !== 'differs')) return;
    const change = BigInt(quantity) - BigInt(before);
    if (change === 0n) return;
    const totals = this.#of(run, petId);
    if (kind.isCount) totals.counted += change;
    else if (change > 0n !== kind.isReversal) totals.in += change;
    else totals.out -= change;
  }

  #of({ serviceName, env, store }: RunRecord, petId: bigint): PetTotals {
    const key = `${petId} ${serviceName}`;
    const known = this.#pets.get(key);
    if (known !== undefined) return known;
    const totals = { serviceName, env, store, petId, in: 0n, out: 0n, counted: 0n, unknown: 0 };
    this.#pets.set(key, totals);
    return totals;
  }
}
