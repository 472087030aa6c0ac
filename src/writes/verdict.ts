import { absenceText, addDelta, type Quantities } from '../inventory/items.ts';
import type { LaterWrite } from '../inventory/run-records.ts';
import { plainName } from '../shared/sanitize.ts';
import type { RowWrite } from './row-write.ts';

/** A row without a final outcome, and what is known about its pet. */
export interface UnansweredRow {
  readonly write: Pick<RowWrite, 'petId' | 'before' | 'after' | 'delta'>;
  /** Whether a request of the row was sent and its outcome is not known. */
  readonly wasSent: boolean;
  /** Whether the run is resumed after its process has ended: the stock may have been changed on purpose since. */
  readonly isResumed: boolean;
  readonly stock: Quantities;
  /** Later writes to the pet by other runs, certain or possible, oldest first. */
  readonly laterWrites: readonly LaterWrite[];
}

/**
 * The decision about a row. `send`: the row was certainly not written, or it is a plain set; it may be sent (again).
 */
export type Verdict =
  | { readonly kind: 'applied' | 'unchanged' | 'send' }
  | { readonly kind: 'conflict'; readonly message: string };

const send: Verdict = { kind: 'send' };
const applied: Verdict = { kind: 'applied' };

/** Decides the outcome of a row from the history and the stock that was just read. */
export function verdictOn(row: UnansweredRow): Verdict {
  const found = row.stock.get(row.write.petId);
  return row.write.delta === undefined ? verdictOnQuantity(row, found) : verdictOnDelta(row, found);
}

/**
 * Decides about a row that sets a quantity, by the first rule that applies:
 *
 * - The stock has that value and the row was never sent: `unchanged`.
 * - The row was sent to change the stock, and the first later write by another run was based on that value: `applied`,
 *   whatever came later.
 * - Another run has written the stock since, or may have: a conflict that names the run. If the stock is still as
 *   before, a write of unknown outcome counts only if it would have left this stock.
 * - The stock has that value: `applied`.
 * - The row is a plain set and the stock was read: `send`, or a conflict if the row was sent and is only now resumed.
 * - The stock is the same as before: `send`.
 * - Otherwise: a conflict.
 */
function verdictOnQuantity(
  { write, wasSent, isResumed, stock, laterWrites }: UnansweredRow,
  found: number | undefined,
): Verdict {
  const { before, after } = write;
  if (found === after && !wasSent) return { kind: 'unchanged' };
  if (wasSent && before !== after && laterWrites[0]?.before === after) return applied;
  const isAsBefore = found !== undefined && found === before;
  const later = laterWrites.findLast((one) => !isAsBefore || mayBeWritten(one, found));
  if (later !== undefined) return { kind: 'conflict', message: laterWriteMessage(later) };
  if (found === after) return applied;
  if (found !== undefined && before === undefined) {
    return wasSent && isResumed ? { kind: 'conflict', message: `the stock is ${found}, not ${after}` } : send;
  }
  if (isAsBefore) return send;
  const message = stockMovedMessage(write, stock);
  return { kind: 'conflict', message: wasSent ? `${message}, and ${notKnown}` : message };
}

/**
 * Decides about a row with a delta. If it was sent, the first later write by another run shows whether it had arrived:
 * that write was based either on the sum or on the stock before. Without such a write, the current stock shows the
 * same. If neither value is found, the outcome can't be known: a conflict. A row that has not arrived or was never sent
 * is `send`, or a conflict if the pet has no stock that can be read.
 */
function verdictOnDelta({ write, wasSent, stock, laterWrites }: UnansweredRow, found: number | undefined): Verdict {
  if (!wasSent) return found === undefined ? { kind: 'conflict', message: absenceText(stock, write.petId) } : send;
  const [later] = laterWrites;
  const seen = later === undefined ? found : later.before;
  if (seen === write.after) return applied;
  if (seen === write.before && seen !== undefined) {
    return found === undefined ? { kind: 'conflict', message: absenceText(stock, write.petId) } : send;
  }
  const message = later === undefined ? stockMovedMessage(write, stock) : laterWriteMessage(later);
  return { kind: 'conflict', message: `${message}, and ${notKnown}` };
}

const notKnown = 'it is not known whether this row was written';

/** Explains why a row can't be written, as a clause without a period. */
function stockMovedMessage(
  { petId, before, after }: Pick<RowWrite, 'petId' | 'before' | 'after'>,
  quantities: Quantities,
): string {
  const found = quantities.get(petId);
  if (found === undefined) return absenceText(quantities, petId);
  if (before === undefined) return `the stock is ${found}, not ${after} as requested`;
  return `the stock is ${found}, neither ${before} as before nor ${after} as requested`;
}

/**
 * Reports whether a later write counts although the stock is still as it was before. A write of unknown outcome counts
 * only if it would have left this very stock, because then it may have restored the stock.
 */
export function mayBeWritten({ result, quantity }: LaterWrite, stock: number | undefined): boolean {
  return result !== 'unknown' || quantity === stock;
}

/** Describes a later write in the history, as a clause without a period. */
export function laterWriteMessage({ run, command, result }: LaterWrite): string {
  if (run === undefined) return 'a run that was removed from the history may have written the stock since';
  return `run ${plainName(run)} (${command}) ${result === 'unknown' ? 'may have written' : 'has written'} the stock since`;
}

/** How many more deltas may bring a stock to 0, besides those in the plan. */
export interface ZeroAllowance {
  left: number;
}

/**
 * Returns the row with its delta added to the current stock, or why that can't be done, as a clause without a period:
 *
 * - the sum is not a valid quantity
 * - the sum is below zero and the planned stock was not, so it was never confirmed
 * - the sum is zero, the planned stock was above zero, and `max-zero` allows no more
 */
export function rebase(write: RowWrite, found: number, zeros: ZeroAllowance): RowWrite | string {
  const { delta = 0, after } = write;
  const sum = addDelta(found, delta);
  if (!sum.ok) return sum.problem;
  const change = delta < 0 ? `${delta}` : `+${delta}`;
  if (sum.value < 0 && after >= 0) {
    return `the stock is now ${found}, so ${change} would take it below zero, to ${sum.value}`;
  }
  if (sum.value === 0 && after > 0) {
    if (zeros.left <= 0)
      return `the stock is now ${found}, so ${change} would set it to 0, and max-zero allows no further row at 0 or below`;
    zeros.left -= 1;
  }
  return { ...write, before: found, after: sum.value };
}

/** The decision about a row after its stock has been read again. */
export type Rechecked =
  | { readonly kind: 'send'; readonly write: RowWrite }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'conflict'; readonly message: string };

/** Adds the row's delta to the current stock. A row without a delta is sent only if its stock has not changed. */
export function recheck(write: RowWrite, quantities: Quantities, zeros: ZeroAllowance): Rechecked {
  const found = quantities.get(write.petId);
  if (write.delta !== undefined && found !== undefined) {
    const rebased = rebase(write, found, zeros);
    return typeof rebased === 'string' ? { kind: 'conflict', message: rebased } : { kind: 'send', write: rebased };
  }
  if (found === write.before) return { kind: 'send', write };
  if (found === write.after) return { kind: 'unchanged' };
  return { kind: 'conflict', message: stockMovedMessage(write, quantities) };
}
