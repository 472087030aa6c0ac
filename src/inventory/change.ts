/** One row of a change file or one change of a program, valid by itself. It never has both a quantity and a delta. */
export interface Change {
  /** The line on which the row begins, from 1; the item's number in a JSON list on one line or in a program's list. */
  readonly line: number;
  readonly petId: bigint;
  /** The new stock. Without it and without `delta` the row is blank and changes nothing. */
  readonly quantity: number | undefined;
  /** The number to add to the stock. */
  readonly delta: number | undefined;
  /** The expected stock. If the stock differs, nothing is written. */
  readonly expected: number | undefined;
  readonly reason: string | undefined;
  readonly ref: string | undefined;
}

/** Why a row did not succeed, in the words of the service or of petstock. */
export interface RowError {
  /** A code in lower snake case, like `pet_not_found`. */
  readonly code: string;
  readonly message: string;
  /** HTTP status of the response, if there was one. */
  readonly status?: number | undefined;
}

/** The error code of a conflict whose row was sent before: it is not known whether that request was carried out. */
export const unclear = 'unclear';

/** Reports whether a conflict may have been written. */
export function isUnclear({
  result,
  error,
}: {
  readonly result: string;
  readonly error?: RowError | undefined;
}): boolean {
  return result === 'conflict' && error?.code === unclear;
}

/**
 * - `unknown`: the row was sent, and it is not known whether it was written
 * - `differs`: the service wrote another quantity than the requested one
 * - `skipped`: left out: the service has no such pet, or the delta was already applied
 * - `notEdited`: the quantity equals the expected one, so the row was not edited; programs see it as unchanged
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

/** A row of a bulk change: its plan, or its outcome. */
export interface BulkRow {
  readonly line: number;
  readonly petId: bigint;
  /** The stock that was read; undefined if none was read, or if the service returned none or an unreliable one. */
  readonly before: number | undefined;
  /** The wanted stock; undefined if it is not known. */
  readonly after: number | undefined;
  /**
   * The delta. Without `expected` it is added to whatever the stock is, and `after` is the sum with the last stock that
   * was read.
   */
  readonly delta?: number | undefined;
  /** The stock that the change expects, if any. */
  readonly expected?: number | undefined;
  readonly result: RowResult;
  /** The stock that the service wrote, if it differs from the requested one. */
  readonly quantity?: number | undefined;
  readonly error?: RowError | undefined;
  readonly reason: string | undefined;
  readonly ref: string | undefined;
}

export type BulkCounts = Readonly<Record<RowResult, number>>;

export interface BulkReport {
  /** The id of the run; null if it is not in the history. */
  readonly run: string | null;
  readonly env: string;
  readonly dryRun: boolean;
  readonly rows: readonly BulkRow[];
  /** Numbers of rows that a resumed run counts but does not keep. */
  readonly uncounted?: Partial<BulkCounts> | undefined;
}

/** Returns the delta to add to whatever the stock is; undefined for a row without a delta or with an expected stock. */
export function owedDelta({ delta, expected }: Pick<BulkRow, 'delta' | 'expected'>): number | undefined {
  return expected === undefined ? delta : undefined;
}

/**
 * Reports whether nothing is to be written for a row, because it needs no change or its pet does not exist. Tables and
 * counts of changes leave such rows out.
 */
export function isIdle({ result }: Pick<BulkRow, 'result'>): boolean {
  return result === 'unchanged' || result === 'notEdited' || result === 'skipped';
}

/** Reports whether a row did not succeed; false for a row that is only planned. */
export function isWrong(row: Pick<BulkRow, 'result'>): boolean {
  return row.result !== 'applied' && row.result !== 'planned' && !isIdle(row);
}

/** Counts rows by their results. `uncounted` has the counts of further rows, which are added. */
export function countRows(rows: Iterable<Pick<BulkRow, 'result'>>, uncounted: Partial<BulkCounts> = {}): BulkCounts {
  const counts = {
    ...{ applied: 0, unchanged: 0, failed: 0, conflict: 0, notAttempted: 0 },
    ...{ unknown: 0, differs: 0, skipped: 0, notEdited: 0, planned: 0 },
    ...uncounted,
  };
  for (const { result } of rows) counts[result] += 1;
  return counts;
}
