/** One row of a change file, valid by itself. Quantity and delta are never both there. */
export interface Change {
  /** The line of the file on which the row begins, from 1; in a JSON list on one line, the number of the item. */
  readonly line: number;
  readonly petId: bigint;
  /** The new stock. Without it and without `delta` the row is blank: it changes nothing. */
  readonly quantity: number | undefined;
  /** The number to add to the stock. */
  readonly delta: number | undefined;
  /** The stock that the row relies on: if it differs, nothing is written. */
  readonly expected: number | undefined;
  readonly reason: string | undefined;
  readonly ref: string | undefined;
}

/** Why a row could not be written, as the service or petstock says it. */
export interface RowError {
  /** Lower snake case: `pet_not_found`. */
  readonly code: string;
  readonly message: string;
  /** HTTP status of the answer, if there was one. */
  readonly status?: number | undefined;
}

/**
 * - `unknown`: it was sent, and whether it was written is not known
 * - `differs`: the service wrote another quantity than was asked for
 * - `skipped`: the service has no such pet, and such rows are left out
 * - `notEdited`: the quantity is the one that is expected, so nobody has edited it; programs see it as unchanged
 */
export const rowResults = [
  'planned',
  'applied',
  'unchanged',
  'notEdited',
  'skipped',
  'failed',
  'conflict',
  'notAttempted',
  'unknown',
  'differs',
] as const;
export type RowResult = (typeof rowResults)[number];

/** One row of a bulk change: what is to become of it, or what has. */
export interface BulkRow {
  readonly line: number;
  readonly petId: bigint;
  /** The stock as it was read; undefined for a pet that the service does not have, and for a plain set. */
  readonly before: number | undefined;
  /** The stock that is wanted; undefined if it is not known. */
  readonly after: number | undefined;
  /** The number to add. Without `expected` it is owed whatever the stock is, and `after` is the sum with the last that was read. */
  readonly delta?: number | undefined;
  /** The stock that the file relied on, if it said so. */
  readonly expected?: number | undefined;
  readonly result: RowResult;
  /** The stock that the service wrote, if it is not the one that was asked for. */
  readonly quantity?: number | undefined;
  readonly error?: RowError | undefined;
  readonly reason: string | undefined;
  readonly ref: string | undefined;
}

/** Rows by result, except for those that are only planned. */
export type BulkCounts = Readonly<Record<Exclude<RowResult, 'planned'>, number>>;

export interface BulkReport {
  /** The run in the history; null if nothing was to be written. */
  readonly run: string | null;
  readonly env: string;
  readonly dryRun: boolean;
  readonly rows: readonly BulkRow[];
  /** Of a run that was resumed: rows that the history counts and does not keep. */
  readonly uncounted?: Partial<BulkCounts> | undefined;
}

/** Returns the increment that is owed, whatever the stock is; undefined for a row that relies on a stock. */
export function owedDelta({ delta, expected }: Pick<BulkRow, 'delta' | 'expected'>): number | undefined {
  return expected === undefined ? delta : undefined;
}

/** Reports whether a row needs nothing: it is in no table, and in no count of what is to be written. */
export function isIdle({ result }: Pick<BulkRow, 'result'>): boolean {
  return result === 'unchanged' || result === 'notEdited' || result === 'skipped';
}

/** Reports whether a row has not become what was asked for. */
export function isWrong(row: Pick<BulkRow, 'result'>): boolean {
  return row.result !== 'applied' && row.result !== 'planned' && !isIdle(row);
}

/** @param uncounted counts of rows that are not there */
export function countRows(rows: Iterable<Pick<BulkRow, 'result'>>, uncounted: Partial<BulkCounts> = {}): BulkCounts {
  const counts = {
    ...{ applied: 0, unchanged: 0, failed: 0, conflict: 0, notAttempted: 0 },
    ...{ unknown: 0, differs: 0, skipped: 0, notEdited: 0 },
    ...uncounted,
  };
  for (const { result } of rows) if (result !== 'planned') counts[result] += 1;
  return counts;
}
