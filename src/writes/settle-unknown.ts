import type { LaterWrite } from '../inventory/run-records.ts';
import type { OutcomeTracker } from './outcome-tracker.ts';
import type { QueuedRow, StockSnapshot, UnknownRow } from './row-write.ts';
import { verdictOn } from './verdict.ts';

export interface Unsettled {
  /** Rows that were definitely not written, or that a plain set may simply write again. */
  readonly again: readonly QueuedRow[];
  /** By the monotonic clock: when the last request that may still arrive can't any more; undefined if no request may. */
  readonly inFlightUntil: number | undefined;
}

/**
 * Settles rows of unknown outcome by the stock that was read after them, and by what other runs have written since: a process
 * that was stopped for long has lost its leases. Rows whose request may still be on its way stay unknown, unless they were applied.
 *
 * @param laterWrites of other runs, for each of `outcomes.unknown`
 * @param look `now`: by the monotonic clock, before the stock was read; `isLast`: nothing is sent again, so that a plain set,
 *   of which it is not known what was there before, stays unknown
 */
export function settleUnknown(
  outcomes: OutcomeTracker,
  stock: StockSnapshot,
  laterWrites: readonly (readonly LaterWrite[])[],
  { now, isLast }: { readonly now: number; readonly isLast: boolean },
): Unsettled {
  const again: QueuedRow[] = [];
  let inFlightUntil: number | undefined;
  for (const [index, unknown] of [...outcomes.unknown.values()].entries()) {
    const { write } = unknown;
    const verdict = verdictOn({
      write,
      wasSent: true,
      isResumed: false,
      stock: stock.quantities,
      laterWrites: laterWrites[index] ?? [],
    });
    const found = stock.quantities.get(write.petId);
    const mayBeInFlight = now < unknown.inFlightUntil;
    if (verdict.kind === 'applied') {
      // A stock that was there before does not show that the request has come.
      const isShown = write.before !== undefined && write.before !== write.after;
      outcomes.applied(write, write.after, mayBeInFlight && !isShown);
    } else if (mayBeInFlight) inFlightUntil = Math.max(inFlightUntil ?? 0, unknown.inFlightUntil);
    else if (verdict.kind === 'conflict') outcomes.conflict(write, verdict.message, found);
    else if (write.before !== undefined) again.push(...refuted(outcomes, unknown, stock, isLast));
    else if (!isLast) again.push(sendAgain(outcomes, unknown, stock));
  }
  return { again, inFlightUntil };
}

function sendAgain(outcomes: OutcomeTracker, { write }: UnknownRow, { readAt }: StockSnapshot): QueuedRow {
  outcomes.unknown.delete(write.row);
  outcomes.notSent(write);
  return { ...write, basis: { readVersion: undefined, readAt } };
}

/** The stock is as it was before: the row was not carried out by now. */
function refuted(
  outcomes: OutcomeTracker,
  unknown: UnknownRow,
  stock: StockSnapshot,
  isLast: boolean,
): readonly QueuedRow[] {
  const { write } = unknown;
  outcomes.unknown.delete(write.row);
  outcomes.refuted(unknown);
  return isLast ? [] : outcomes.recheck([write], stock);
}
