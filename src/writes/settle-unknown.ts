import type { Outcomes } from './outcomes.ts';
import type { QueuedRow, Stock } from './row-write.ts';
import { stockMovedMessage } from './stock-moved.ts';

export interface Unsettled {
  /** Rows that were certainly not written, or that a plain set may simply write again. */
  readonly again: readonly QueuedRow[];
  /** By the monotonic clock: when the last request that may still arrive can't any more; undefined where no request may. */
  readonly arrivesUntil: number | undefined;
}

/**
 * Settles rows of unknown outcome by the stock that was read after them:
 *
 * - as wanted: applied
 * - their request may still be on its way: they stay unknown
 * - as before: sent again; a plain set relies on no stock, so it is sent again whatever the stock is
 * - anything else: a conflict
 *
 * @param look `now`: by the monotonic clock, before the stock was read; `isLast`: nothing is sent again, so that a plain set,
 *   of which it is not known what was there before, stays unknown
 */
export function settleUnknown(
  outcomes: Outcomes,
  { quantities, mark }: Stock,
  { now, isLast = false }: { readonly now: number; readonly isLast?: boolean },
): Unsettled {
  const again: QueuedRow[] = [];
  let arrivesUntil: number | undefined;
  for (const unknown of [...outcomes.unknown.values()]) {
    const { write } = unknown;
    const found = quantities.get(write.petId);
    const isUnmoved = found !== undefined && (write.before === undefined || found === write.before);
    if (found === write.after) {
      outcomes.settle(write, { result: 'applied' }, found);
    } else if (now < unknown.arrivesUntil) {
      arrivesUntil = Math.max(arrivesUntil ?? 0, unknown.arrivesUntil);
    } else if (!isUnmoved) {
      const moved = stockMovedMessage(write, found);
      outcomes.conflict(write, `${moved}; whether it was written before that is not known`, found);
    } else if (!isLast || write.before !== undefined) {
      outcomes.notSent(write);
      outcomes.unknown.delete(write.row);
      // Only where the stock is as before it is certain that nothing was written.
      if (write.before !== undefined) outcomes.exposed.delete(write.row);
      again.push({ write, mark: write.before === undefined ? undefined : mark });
    }
  }
  return { again, arrivesUntil };
}
