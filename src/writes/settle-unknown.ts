import type { LaterWrite } from '../inventory/run-records.ts';
import type { OutcomeTracker } from './outcome-tracker.ts';
import type { QueuedRow, StockSnapshot, UnknownRow } from './row-write.ts';
import { verdictOn } from './verdict.ts';

export interface Unsettled {
  /** Rows that were certainly not written, or plain sets, which may be written again. */
  readonly again: readonly QueuedRow[];
  /** When the last request can no longer be in flight, by the monotonic clock; undefined if none is. */
  readonly inFlightUntil: number | undefined;
}

/**
 * Settles rows of unknown outcome by the stock that was read after them, and by later writes of other runs (a process
 * that was stopped for long has lost its leases). Rows whose request may still be in flight stay unknown, unless the
 * stock shows that they were applied.
 * @param laterWrites writes of other runs, for each of `outcomes.unknown`
 * @param look `now`: the time before the stock was read, by the monotonic clock; `isLast`: nothing is sent again, so a
 * plain set stays unknown, because the stock before it is not known
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
      // A stock that already had the wanted value does not prove that the request has arrived.
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

/** Returns the row to pending, because the stock is the same as before, so the row was not carried out. */
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
