import type { LaterWrite } from '../inventory/run-records.ts';
import type { OutcomeTracker } from './outcome-tracker.ts';
import type { QueuedRow, StockSnapshot, UnknownRow } from './row-write.ts';
import { verdictOn } from './verdict.ts';

export interface Unsettled {
  /** Rows that may be sent again: they were certainly not written, or are plain sets. */
  readonly again: readonly QueuedRow[];
  /** When the last request can no longer be in flight, by the monotonic clock; undefined if none is. */
  readonly inFlightUntil: number | undefined;
}

/**
 * Settles rows of unknown outcome by the stock that was read after they were sent, and by later writes of other runs
 * (there are some only if this process was suspended and lost its leases). Rows whose request may still be in flight
 * stay unknown, unless the stock shows that they were applied.
 * @param laterWrites the writes of other runs, for each of `outcomes.unknown`
 * @param options `now`: the monotonic time before the stock was read; `isLast`: nothing is sent again, so a plain set
 * stays unknown, because the stock before it is not known
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
    else if (write.before !== undefined) again.push(...returnToPending(outcomes, unknown, stock, isLast));
    else if (!isLast) again.push(sendAgain(outcomes, unknown, stock));
  }
  return { again, inFlightUntil };
}

function sendAgain(outcomes: OutcomeTracker, { write }: UnknownRow, { readAt }: StockSnapshot): QueuedRow {
  outcomes.unknown.delete(write.row);
  outcomes.notSent(write);
  return { ...write, basis: { readVersion: undefined, readAt } };
}

/**
 * Returns a row to pending, because its verdict is that it was not carried out.
 * @returns the row to send again; none at the end of the run, or if its delta can't be added to the stock
 */
function returnToPending(
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
