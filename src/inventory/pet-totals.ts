import { isUnclear } from './change.ts';
import { possibleWrites, type RecordedRow, type RunRecord } from './run-records.ts';

/** The changes in the stock of one pet over some period. */
export interface PetTotals {
  readonly service: string;
  readonly env: string;
  readonly store: string | undefined;
  readonly petId: bigint;
  /** Numbers of units that came in and went out, without stock-takes. */
  in: bigint;
  out: bigint;
  /** Number of units that stock-takes added to the stock, minus those they removed. */
  counted: bigint;
  /** Number of writes that the three sums leave out, because it is not known what they changed. */
  unknown: number;
}

export interface RowKind {
  /** Whether the row set the stock to a count, or undoes such a row. */
  readonly isCount: boolean;
  /** The change that the row undoes, if the sums contain it; otherwise 0. Undefined if that change is not known. */
  readonly cancelledChange: bigint | undefined;
}

/** Adds up rows of the history by pet. Each service has its own pets. */
export class Totals {
  readonly #pets = new Map<string, PetTotals>();

  /** Yields the pets, ordered by environment, store, service and id. */
  *pets(): Generator<PetTotals> {
    const sortKey = ({ service, env, store = '' }: PetTotals) => `${env} ${store} ${service}`;
    yield* [...this.#pets.values()].sort(
      (one, other) => sortKey(one).localeCompare(sortKey(other)) || Number(one.petId - other.petId),
    );
  }

  /** Adds a row, unless it certainly was not written or changed nothing. */
  add(run: RunRecord, row: RecordedRow, { isCount, cancelledChange }: RowKind): void {
    if (!possibleWrites.includes(row.result) && !isUnclear(row)) return;
    const change = writtenChange(row);
    if (change === 0n) return;
    const totals = this.#of(run, row.petId);
    if (change === undefined || cancelledChange === undefined) totals.unknown += 1;
    else if (isCount) totals.counted += change;
    else if (change > 0n) {
      const cancelled = cancelledPart(change, -cancelledChange);
      totals.out -= cancelled;
      totals.in += change - cancelled;
    } else {
      const cancelled = cancelledPart(-change, cancelledChange);
      totals.in -= cancelled;
      totals.out -= change + cancelled;
    }
  }

  #of({ service, env, store }: RunRecord, petId: bigint): PetTotals {
    const key = `${petId} ${service}`;
    const known = this.#pets.get(key);
    if (known !== undefined) return known;
    const totals = { service, env, store, petId, in: 0n, out: 0n, counted: 0n, unknown: 0 };
    this.#pets.set(key, totals);
    return totals;
  }
}

/** Returns how a row that may have been written changed the stock; undefined if that is not known. */
export function writtenChange({ result, before, after, quantity = after }: RecordedRow): bigint | undefined {
  const isWritten = result === 'applied' || result === 'differs';
  return isWritten && before !== undefined ? BigInt(quantity) - BigInt(before) : undefined;
}

/**
 * Returns how much of an undone change a row cancels: at most what the row itself has changed, in its direction,
 * because other writers may have changed the stock meanwhile.
 */
function cancelledPart(change: bigint, undone: bigint): bigint {
  if (undone < 0n) return 0n;
  return change < undone ? change : undone;
}
