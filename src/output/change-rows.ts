import { type BulkCounts, type BulkRow, type RowError, type RowResult, rowResults } from '../inventory/change.ts';
import { grouped } from '../inventory/items.ts';
import type { Paint } from './terminal.ts';
import type { Column, Row, Scalar } from './view.ts';

/**
 * Returns the number of rows by result as a sentence: `1,195 applied, 3 unchanged, 2 failed.` Lists only results that
 * occur.
 * @param uncounted counts of further rows
 */
export function countsSentence(rows: Iterable<Pick<BulkRow, 'result'>>, uncounted: Partial<BulkCounts> = {}): string {
  const counts = new Map(Object.entries(uncounted));
  for (const { result } of rows) counts.set(result, (counts.get(result) ?? 0) + 1);
  const parts = rowResults.flatMap((result) => {
    const count = counts.get(result) ?? 0;
    return count === 0 ? [] : [`${grouped(count)} ${resultWord(result, count)}`];
  });
  return `${parts.join(', ') || 'No rows'}.`;
}

interface ResultStyle {
  readonly color: 'green' | 'dim' | 'red' | 'yellow' | 'cyan';
  /** The word for the result, if it differs from the result itself. */
  readonly word?: string;
  /** The words after a count, for one row and for several. Default: the word for the result. */
  readonly counted?: readonly [one: string, several: string];
}

const resultStyles: Readonly<Record<RowResult | 'pending', ResultStyle>> = {
  planned: { color: 'cyan', counted: ['change', 'changes'] },
  applied: { color: 'green' },
  unchanged: { color: 'dim' },
  notEdited: { color: 'dim', word: 'not edited' },
  skipped: { color: 'dim' },
  failed: { color: 'red' },
  conflict: { color: 'yellow', counted: ['conflict', 'conflicts'] },
  notAttempted: { color: 'dim', word: 'not attempted' },
  pending: { color: 'dim' },
  unknown: { color: 'yellow' },
  differs: { color: 'yellow', counted: ['differs', 'differ'] },
};

/** Returns the word for a number of rows with a result: `conflicts`. */
export function resultWord(result: RowResult | 'pending', count: number): string {
  const { word = result, counted } = resultStyles[result];
  return counted?.[count === 1 ? 0 : 1] ?? word;
}

export function resultCell(value: Scalar, _row: Row, paint: Paint): string {
  const style = (resultStyles as Readonly<Record<string, ResultStyle>>)[`${value}`];
  return style === undefined ? `${value ?? ''}` : paint[style.color](style.word ?? `${value}`);
}

/** The error of a row, of which CSV and TSV have the message. */
export const errorColumn: Column = {
  field: 'error',
  title: 'error',
  flat: [{ field: 'error', title: 'error', value: ({ error }) => (error as RowError | undefined)?.message }],
};

/** Returns what a person must know about a row in addition to its numbers; undefined if there is nothing. */
export function problemText({ result, quantity, error }: RowProblem): string | undefined {
  const parts: string[] = [];
  if (result === 'unknown') parts.push('not known whether it was written');
  if (result === 'differs' && quantity !== undefined) parts.push(`the service wrote ${grouped(quantity)}`);
  // An interruption is mentioned once, below the rows that were not attempted because of it.
  if (error !== undefined && error.code !== 'interrupted') parts.push(error.message);
  return parts.length === 0 ? undefined : parts.join(': ');
}

interface RowProblem {
  readonly result: string;
  readonly quantity?: number | undefined;
  readonly error?: RowError | undefined;
}
