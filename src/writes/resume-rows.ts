import type { BulkRow } from '../inventory/change.ts';
import type { Outcome, PetWrite, RecordedRow } from '../state/history.ts';
import { laterWriteMessage, mayBeWritten } from './stock-moved.ts';

/** A row of a run that goes on. */
export interface ResumedRow {
  /** What is still to be written is `planned`. */
  readonly row: BulkRow;
  /** What the stock or the history say of a row without an answer: for the log of the run. */
  readonly outcome: Outcome | undefined;
}

/** What is known of a row without an answer when its run goes on. */
export interface ResumeFacts {
  /** The stock now; undefined where there is none. */
  readonly stock: number | undefined;
  /** Why there is none, as a clause. Default: the service has no such pet any more. */
  readonly absence?: string | undefined;
  /** What other runs have written of the pet since. */
  readonly laterWrites: readonly PetWrite[];
}

/** Whether a row has no answer yet, so that the stock of its pet has to be looked at. */
export function isUnanswered({ result }: RecordedRow): boolean {
  return result === 'pending' || result === 'unknown';
}

/**
 * What is left of a row. One that has its answer is never written again. Of the others:
 *
 * - the stock is what was wanted, and it was never sent: `unchanged`
 * - another run has written the pet since, or may have: `conflict` that names it, whatever the stock is
 * - the stock is what was wanted: `applied`
 * - it is as it was: `planned`
 * - anything else: `conflict`
 */
export function resumeRow(recorded: RecordedRow, facts: ResumeFacts): ResumedRow {
  const { row, petId, result } = recorded;
  if (result !== 'pending' && result !== 'unknown') {
    return { row: bulkRow(recorded, result), outcome: undefined };
  }
  const answer = answerOf(recorded, facts);
  // What its last try has failed with is over.
  if (answer === undefined) {
    return { row: bulkRow({ ...recorded, error: undefined }, 'planned'), outcome: undefined };
  }
  const error = answer.message === undefined ? undefined : { code: 'conflict', message: answer.message };
  const outcome: Outcome = { row, petId, result: answer.result, quantity: facts.stock, error };
  return { row: bulkRow({ ...recorded, error }, answer.result), outcome };
}

interface Answer {
  readonly result: 'applied' | 'unchanged' | 'conflict';
  readonly message?: string;
}

/** @returns undefined where the row is still to be written */
function answerOf(
  { petId, before, after, result }: RecordedRow,
  { stock, absence = `there is no pet ${petId} any more`, laterWrites }: ResumeFacts,
): Answer | undefined {
  if (stock === after && result === 'pending') return { result: 'unchanged' };
  const isAsBefore = stock !== undefined && stock === before;
  const later = laterWrites.findLast((write) => !isAsBefore || mayBeWritten(write, stock));
  if (later !== undefined) {
    return { result: 'conflict', message: laterWriteMessage(later) };
  }
  if (stock === after) return { result: 'applied' };
  if (stock === undefined) return { result: 'conflict', message: absence };
  if (before === undefined) {
    // A plain set that was never sent relies on nothing; of one that was, somebody may have changed the stock since.
    return result === 'pending' ? undefined : { result: 'conflict', message: `the stock is ${stock}, not ${after}` };
  }
  return stock === before
    ? undefined
    : { result: 'conflict', message: `the stock is ${stock}, not ${before} as planned` };
}

/** One literal for all rows, so that they share their shape in memory. */
function bulkRow(recorded: RecordedRow, result: BulkRow['result']): BulkRow {
  const { line, petId, before, after, quantity, error, reason, ref } = recorded;
  const written = result === 'differs' ? quantity : undefined;
  return {
    line,
    petId,
    before,
    after,
    delta: undefined,
    expected: undefined,
    result,
    quantity: written,
    error,
    reason,
    ref,
  };
}
