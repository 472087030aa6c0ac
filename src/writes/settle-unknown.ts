import type { Quantities } from '../inventory/pet-quantities.ts';
import type { PetWrite } from '../state/history.ts';
import type { Outcomes } from './outcomes.ts';
import type { QueuedRow, RowWrite, Stock, UnknownRow } from './row-write.ts';
import { laterWriteMessage, mayBeWritten, stockMovedMessage } from './stock-moved.ts';

export interface Unsettled {
  /** Rows that were certainly not written, or that a plain set may simply write again. */
  readonly again: readonly QueuedRow[];
  /** By the monotonic clock: when the last request that may still arrive can't any more; undefined where no request may. */
  readonly arrivesUntil: number | undefined;
}

/**
 * Settles rows of unknown outcome by the stock that was read after them, and by what other runs have written since: a process that
 * was stopped for long has lost its leases.
 *
 * - as wanted, and no other run has written it: applied
 * - their request may still be on its way: they stay unknown
 * - another run has written the pet since, or may have: a conflict that names it, whatever the stock is
 * - as before: sent again; a plain set relies on no stock, so it is sent again whatever the stock is
 * - anything else: a conflict
 *
 * @param laterWrites of other runs, for each of `outcomes.unknown`
 * @param look `now`: by the monotonic clock, before the stock was read; `isLast`: nothing is sent again, so that a plain set,
 *   of which it is not known what was there before, stays unknown
 */
export function settleUnknown(
  outcomes: Outcomes,
  { quantities, mark }: Stock,
  laterWrites: readonly (readonly PetWrite[])[],
  { now, isLast = false }: { readonly now: number; readonly isLast?: boolean },
): Unsettled {
  const again: QueuedRow[] = [];
  let arrivesUntil: number | undefined;
  for (const [index, unknown] of [...outcomes.unknown.values()].entries()) {
    const { write } = unknown;
    const found = quantities.get(write.petId);
    const later = overtaking(write, found, laterWrites[index] ?? []);
    if (found === write.after && later === undefined) {
      outcomes.settle(write, { result: 'applied' }, found);
    } else if (now < unknown.arrivesUntil) {
      arrivesUntil = Math.max(arrivesUntil ?? 0, unknown.arrivesUntil);
    } else {
      const message = conflictOf(write, quantities, later);
      if (message !== undefined) outcomes.conflict(write, message, found);
      else if (!isLast || write.before !== undefined) again.push(sendAgain(outcomes, unknown, mark));
    }
  }
  return { again, arrivesUntil };
}

/** The last write of another run that may have changed what is found. */
function overtaking({ before }: RowWrite, found: number | undefined, later: readonly PetWrite[]): PetWrite | undefined {
  return later.findLast((write) => found === undefined || found !== before || mayBeWritten(write, found));
}

/** @returns undefined where it may be sent again */
function conflictOf(write: RowWrite, quantities: Quantities, later: PetWrite | undefined): string | undefined {
  const found = quantities.get(write.petId);
  if (later !== undefined) return laterWriteMessage(later);
  const isUnmoved = found !== undefined && (write.before === undefined || found === write.before);
  return isUnmoved
    ? undefined
    : `${stockMovedMessage(write, quantities)}; whether it was written before that is not known`;
}

function sendAgain(outcomes: Outcomes, unknown: UnknownRow, mark: Stock['mark']): QueuedRow {
  const { write } = unknown;
  outcomes.unknown.delete(write.row);
  // Only where the stock is as before it is certain that nothing was written.
  if (write.before === undefined) outcomes.notSent(write);
  else outcomes.refuted(unknown);
  return { write, mark: write.before === undefined ? undefined : mark };
}
