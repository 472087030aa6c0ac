import type { BulkRow, BulkRows } from './change.ts';

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
      if (length === 0) return;
      for (const row of rows) if (test(row)) yield row;
    },
  };
}

/** The first rows, at most so many. */
export function firstRows(rows: BulkRows, most: number): BulkRow[] {
  const first: BulkRow[] = [];
  if (most <= 0) return first;
  for (const row of rows) {
    first.push(row);
    if (first.length === most) break;
  }
  return first;
}
