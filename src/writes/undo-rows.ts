import type { BulkRow } from '../inventory/change.ts';
import type { PetWrite, RecordedRow } from '../state/history.ts';
import { laterWriteMessage, mayBeWritten } from './stock-moved.ts';

/** What is known of a row that is to be taken back. */
export interface UndoFacts {
  /** The stock now; undefined where there is none. */
  readonly stock: number | undefined;
  /** Why there is none, as a clause. Default: the service has no such pet any more. */
  readonly absence?: string | undefined;
  /** What other runs have written of the pet since, except for pairs of a write and its undo. */
  readonly laterWrites: readonly PetWrite[];
  /** What the history knew of the stock before a plain set, which did not read it. */
  readonly lastKnown: number | undefined;
}

/** Whether a row has written something, or may have, and was not taken back yet. */
export function isUndoable({ result, undoneBy }: RecordedRow): boolean {
  return undoneBy === undefined && (result === 'applied' || result === 'differs' || result === 'unknown');
}

/**
 * What takes a row back: only where the stock is still what the row wrote, and no other run has written the pet since. The
 * `line` is the number of the row in the run.
 *
 * @param run the run that is taken back
 * @returns undefined where it is not known what the stock was before
 */
export function undoRow(run: string, recorded: RecordedRow, facts: UndoFacts): BulkRow | undefined {
  const { row: line, petId, after, ref } = recorded;
  const { stock, absence, laterWrites, lastKnown } = facts;
  const target = recorded.before ?? lastKnown;
  if (target === undefined) return undefined;
  const written = recorded.quantity ?? after;
  const isRemembered = recorded.before === undefined;
  const reason = isRemembered ? `undo of ${run}, to the last stock in the history` : `undo of ${run}`;
  const message = conflictOf(petId, { stock, absence, written, target, laterWrites });
  const result = message !== undefined ? 'conflict' : stock === target ? 'unchanged' : 'planned';
  const error = message === undefined ? undefined : { code: 'conflict', message };
  return {
    line,
    petId,
    before: stock,
    after: target,
    delta: undefined,
    expected: undefined,
    result,
    quantity: undefined,
    error,
    reason,
    ref,
  };
}

interface Situation {
  readonly stock: number | undefined;
  readonly absence: string | undefined;
  readonly written: number;
  readonly target: number;
  readonly laterWrites: readonly PetWrite[];
}

function conflictOf(petId: bigint, { stock, absence, written, target, laterWrites }: Situation): string | undefined {
  if (stock === undefined) return absence ?? `there is no pet ${petId} any more`;
  if (stock === target) return undefined;
  const later = laterWrites.findLast((write) => stock !== written || mayBeWritten(write, stock));
  if (later !== undefined) return laterWriteMessage(later);
  return stock === written ? undefined : `the stock is ${stock}, not ${written} as it was written`;
}
