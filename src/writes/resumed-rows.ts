import type { Outcome, RecordedRow, RecordedRun } from '../history/records.ts';
import type { BulkRow } from '../inventory/change.ts';

export interface ResumedRows {
  /** In the order of the run; what is still to be written is `planned`. */
  readonly rows: readonly BulkRow[];
  /** The number of each in the journal. */
  readonly numbers: readonly number[];
  /** What the stock tells of rows that had no answer: for the journal. */
  readonly outcomes: readonly Outcome[];
}

/** The rows without an answer, whose stock has to be looked at. */
export function unansweredPets({ rows }: RecordedRun): ReadonlySet<bigint> {
  return new Set(rows.filter(isUnanswered).map(({ petId }) => petId));
}

/**
 * What is left of a run, given the stock as it is now. A row that has its answer is never written again. Of the others:
 *
 * - the stock is what was wanted: `applied` where it was sent, else `unchanged`
 * - it is as it was: `planned`
 * - anything else: `conflict`
 */
export function resumeRows(recorded: RecordedRun, stockOf: (petId: bigint) => number | undefined): ResumedRows {
  const outcomes: Outcome[] = [];
  const rows = recorded.rows.map((row): BulkRow => {
    const { line, petId, before, after, reason, ref, state, error } = row;
    const same = { line, petId, before, after, reason, ref };
    if (state !== 'pending' && state !== 'open') return { ...same, result: state, error };
    const outcome = outcomeBy(row, stockOf(petId));
    if (outcome === undefined) return { ...same, result: 'planned' };
    outcomes.push(outcome);
    return { ...same, result: outcome.result, error: outcome.error };
  });
  return { rows, numbers: recorded.rows.map(({ row }) => row), outcomes };
}

function isUnanswered({ state }: RecordedRow): boolean {
  return state === 'pending' || state === 'open';
}

type Answer = Outcome & { readonly result: 'applied' | 'unchanged' | 'conflict' };

/** @returns undefined where the row is still to be written */
function outcomeBy({ row, petId, before, after, state }: RecordedRow, stock: number | undefined): Answer | undefined {
  if (stock === after) return { row, result: state === 'open' ? 'applied' : 'unchanged', quantity: stock };
  if (stock !== undefined && stock === before) return undefined;
  const message =
    stock === undefined
      ? `there is no pet ${petId} any more`
      : `the stock is ${stock}, not ${before ?? after} as planned`;
  return { row, result: 'conflict', quantity: stock, error: { code: 'conflict', message } };
}
