import type { RecordedResult, RecordedRow, RunRecord } from './run-records.ts';

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

/** What a row is for the totals. */
export interface RowKind {
  /** It set the stock to what was counted, or it undoes such a row. */
  readonly isCount: boolean;
  /** The change in these sums that it takes back: 0 for most rows, undefined if it undoes what is not known. */
  readonly takesBack: bigint | undefined;
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
  add(run: RunRecord, row: RecordedRow, { isCount, takesBack }: RowKind): void {
    if (!mayBeWritten.includes(row.result)) return;
    const change = changeOf(row);
    if (change === 0n) return;
    const totals = this.#of(run, row.petId);
    if (change === undefined || takesBack === undefined) totals.unknown += 1;
    else if (isCount) totals.counted += change;
    else if (change > 0n) {
      const back = least(change, -takesBack);
      totals.out -= back;
      totals.in += change - back;
    } else {
      const back = least(-change, takesBack);
      totals.in -= back;
      totals.out -= change + back;
    }
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

/** Results of rows that the totals take. */
export const mayBeWritten: readonly RecordedResult[] = ['applied', 'differs', 'unknown'];

/** Returns by how much a row that may have been written changed the stock; undefined if that is not known. */
export function changeOf({ result, before, after, quantity = after }: RecordedRow): bigint | undefined {
  return result === 'unknown' || before === undefined ? undefined : BigInt(quantity) - BigInt(before);
}

/** Stock that others changed meanwhile is not taken back: no more than the row had changed, and not in its direction. */
function least(change: bigint, undone: bigint): bigint {
  if (undone < 0n) return 0n;
  return change < undone ? change : undone;
}
