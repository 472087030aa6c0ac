import { type BulkRow, type RowResult, rowResults } from '../inventory/change.ts';
import { grouped } from '../inventory/grouped.ts';

/** What a result is called after its count. */
const words: Readonly<Record<RowResult, (count: number) => string>> = {
  planned: (count) => (count === 1 ? 'change' : 'changes'),
  applied: () => 'applied',
  unchanged: () => 'unchanged',
  failed: () => 'failed',
  conflict: (count) => (count === 1 ? 'conflict' : 'conflicts'),
  notAttempted: () => 'not attempted',
};

/** Rows by result, without a trailing period: `1,195 applied, 3 unchanged, 2 failed`. What there is none of is left out. */
export function countsText(rows: readonly BulkRow[]): string {
  const counts = new Map<RowResult, number>();
  for (const { result } of rows) counts.set(result, (counts.get(result) ?? 0) + 1);
  const parts = rowResults.flatMap((result) => {
    const count = counts.get(result);
    return count === undefined ? [] : [`${grouped(count)} ${words[result](count)}`];
  });
  return parts.length === 0 ? 'no rows' : parts.join(', ');
}

/** As `countsText`, as a sentence. */
export function countsSentence(rows: readonly BulkRow[]): string {
  return rows.length === 0 ? 'No rows.' : `${countsText(rows)}.`;
}
