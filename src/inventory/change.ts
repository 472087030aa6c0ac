/** One row of a change file, valid by itself. Quantity and delta are never both there. */
export interface Change {
  /** The line of the file on which the row begins, from 1; in a JSON list on one line, the number of the item. */
  readonly line: number;
  readonly petId: bigint;
  /** The new stock. Without it and without `delta` the row is blank: it changes nothing. */
  readonly quantity: number | undefined;
  /** What is to be added to the stock. */
  readonly delta: number | undefined;
  /** The stock that the row relies on: where it differs, nothing is written. */
  readonly expected: number | undefined;
  readonly reason: string | undefined;
  readonly ref: string | undefined;
}

/** Why a row could not be written, as the service or petstock says it. */
export interface RowError {
  /** Lower snake case: `pet_not_found`. */
  readonly code: string;
  readonly message: string;
  /** HTTP status of the answer, where there was one. */
  readonly status?: number | undefined;
}

/**
 * - `unknown`: it was sent, and whether it was written is not known
 * - `differs`: the service wrote another quantity than was asked for
 */
export const rowResults = [
  'planned',
  'applied',
  'unchanged',
  'failed',
  'conflict',
  'notAttempted',
  'unknown',
  'differs',
] as const;
export type RowResult = (typeof rowResults)[number];

/** What is to become, or has become, of one row of a bulk change. */
export interface BulkRow {
  readonly line: number;
  readonly petId: bigint;
  /** The stock as it was read; undefined for a pet that the service does not have. */
  readonly before: number | undefined;
  /** The stock that is wanted; undefined where it is not known. */
  readonly after: number | undefined;
  /** What was to be added, where no stock is known that it could be added to. */
  readonly delta?: number | undefined;
  /** What the file relied on, where it said so. */
  readonly expected?: number | undefined;
  readonly result: RowResult;
  /** What the service wrote, where that is not what was asked for. */
  readonly quantity?: number | undefined;
  readonly error?: RowError | undefined;
  readonly reason: string | undefined;
  readonly ref: string | undefined;
}

/** Rows by result, except for those that are only planned. */
export interface BulkCounts {
  readonly applied: number;
  readonly unchanged: number;
  readonly failed: number;
  readonly conflict: number;
  readonly notAttempted: number;
  readonly unknown: number;
  readonly differs: number;
}

/** What a bulk command has to tell in the end. */
export interface BulkReport {
  /** The run in the history; null where nothing was to be written. */
  readonly run: string | null;
  readonly env: string;
  readonly dryRun: boolean;
  readonly rows: BulkRows;
  /** Of a run that was resumed: rows that needed no change when it was planned. The history counts them, and keeps no more. */
  readonly unchanged?: number | undefined;
}

/** Rows in their order, which may be made when they are looked at: of many, no more are kept than are needed. An array is one. */
export interface BulkRows extends Iterable<BulkRow> {
  readonly length: number;
}

export function countRows(rows: BulkRows): BulkCounts {
  const counts = { applied: 0, unchanged: 0, failed: 0, conflict: 0, notAttempted: 0, unknown: 0, differs: 0 };
  for (const { result } of rows) {
    if (result !== 'planned') counts[result] += 1;
  }
  return counts;
}

/** The rows of the whole run by result. */
export function countReport({ rows, unchanged = 0 }: Pick<BulkReport, 'rows' | 'unchanged'>): BulkCounts {
  const counts = countRows(rows);
  return { ...counts, unchanged: counts.unchanged + unchanged };
}

type Test = (row: BulkRow) => boolean;

export function countWhere(rows: BulkRows, test: Test): number {
  let count = 0;
  for (const row of rows) if (test(row)) count += 1;
  return count;
}

/** The rows that pass, looked for each time that they are asked for: they are not held. */
export function rowsWhere(rows: BulkRows, test: Test): BulkRows {
  const length = countWhere(rows, test);
  return {
    length,
    *[Symbol.iterator]() {
      for (const row of rows) if (test(row)) yield row;
    },
  };
}

/** The first rows, at most so many. */
export function firstRows(rows: BulkRows, most: number): BulkRow[] {
  const first: BulkRow[] = [];
  for (const row of rows) {
    if (first.length === most) break;
    first.push(row);
  }
  return first;
}
