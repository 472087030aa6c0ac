import { absenceText, addDelta, type Quantities } from '../inventory/items.ts';
import type { LaterWrite } from '../inventory/run-records.ts';
import { plainName } from '../shared/sanitize.ts';
import type { RowWrite } from './row-write.ts';

/** The facts about a row without an answer. */
export interface UnansweredRow {
  readonly write: Pick<RowWrite, 'petId' | 'before' | 'after' | 'delta'>;
  /** A request of it has left, and no answer came. */
  readonly wasSent: boolean;
  /** The run goes on after its process has ended: somebody may have changed the stock on purpose since. */
  readonly isResumed: boolean;
  readonly stock: Quantities;
  /** Writes of the pet by other runs since, certain or possible, the oldest first. */
  readonly laterWrites: readonly LaterWrite[];
}

/** The meaning of that. `resend`: it was definitely not written, or a plain set may simply be written again. */
export type Verdict =
  | { readonly kind: 'applied' | 'unchanged' | 'open' }
  | { readonly kind: 'conflict'; readonly message: string };

const resend: Verdict = { kind: 'open' };
const applied: Verdict = { kind: 'applied' };

/** Judges a row without an answer by the stock that was read since, and by the history. */
export function verdictOn(row: UnansweredRow): Verdict {
  const found = row.stock.get(row.write.petId);
  return row.write.delta === undefined ? absolute(row, found) : increment(row, found);
}

/**
 * A row that wants a certain stock:
 *
 * - the stock is that, and it was never sent: unchanged
 * - it was sent, and the first run that has read the pet since found what is wanted: applied, whatever came after
 * - another run has written the pet since, or may have: a conflict that names it, whatever the stock is
 * - the stock is what is wanted: applied
 * - as before: open; so is a plain set, which relies on no stock, unless it was sent and its run goes on only now
 * - anything else: a conflict
 */
function absolute(
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
    return wasSent && isResumed ? { kind: 'conflict', message: `the stock is ${found}, not ${after}` } : resend;
  }
  if (isAsBefore) return resend;
  const message = stockMovedMessage(write, stock);
  return { kind: 'conflict', message: wasSent ? `${message}; ${notKnown}` : message };
}

/**
 * An increment that is owed. What was never sent is owed still, whatever the stock is now. Of what was sent, the first run
 * that has read the pet since knows whether it had arrived: it read the sum, or the stock before. Without one the stock now
 * says the same. Where neither is found, nobody can know.
 */
function increment({ write, wasSent, stock, laterWrites }: UnansweredRow, found: number | undefined): Verdict {
  if (!wasSent) return found === undefined ? { kind: 'conflict', message: absenceText(stock, write.petId) } : resend;
  const [later] = laterWrites;
  const seen = later === undefined ? found : later.before;
  if (seen === write.after) return applied;
  if (seen === write.before && seen !== undefined) {
    return found === undefined ? { kind: 'conflict', message: absenceText(stock, write.petId) } : resend;
  }
  const message = later === undefined ? stockMovedMessage(write, stock) : laterWriteMessage(later);
  return { kind: 'conflict', message: `${message}; ${notKnown}` };
}

const notKnown = 'it is not known whether this row was written before that';

/** Returns why a row can't be written: a clause without a trailing period. */
export function stockMovedMessage(
  { petId, before, after }: Pick<RowWrite, 'petId' | 'before' | 'after'>,
  quantities: Quantities,
): string {
  const found = quantities.get(petId);
  if (found === undefined) return absenceText(quantities, petId);
  if (before === undefined) return `the stock is ${found}, not ${after} as wanted`;
  return `the stock is ${found}, neither ${before} as before nor ${after} as wanted`;
}

/**
 * Reports whether a later write counts, given that the stock is as it was before that. One of unknown outcome was not carried
 * out if it would have left another stock. One that would have left this one may have brought the stock back to it.
 */
export function mayBeWritten({ result, quantity }: LaterWrite, stock: number | undefined): boolean {
  return result !== 'unknown' || quantity === stock;
}

/** Returns the same for a later write that the history knows of. */
export function laterWriteMessage({ run, command, result }: LaterWrite): string {
  if (run === undefined) return 'it was written since, by a run that was removed from the history';
  return `run ${plainName(run)} (${command}) ${result === 'unknown' ? 'may have written' : 'has written'} it since`;
}

/** The zeros that increments may still come to besides those of the plan. */
export interface ZeroAllowance {
  left: number;
}

/**
 * Returns an increment added to the stock that was found now, or why it can't be: a clause without a trailing period.
 *
 * - a sum that no quantity can hold: refused
 * - below zero if the last look was not: refused, since nobody has agreed to that
 * - to zero if the last look was above: refused once that is more than `max-zero` allows
 */
export function rebase(write: RowWrite, found: number, zeros: ZeroAllowance): RowWrite | string {
  const { delta = 0, after } = write;
  const sum = addDelta(found, delta);
  if (!sum.ok) return sum.problem;
  const change = delta < 0 ? `${delta}` : `+${delta}`;
  if (sum.value < 0 && after >= 0) {
    return `the stock is ${found} now, and ${found} ${change} would go below zero, to ${sum.value}`;
  }
  if (sum.value === 0 && after > 0) {
    if (zeros.left <= 0)
      return `the stock is ${found} now, and ${found} ${change} would be 0: more than max-zero allows`;
    zeros.left -= 1;
  }
  return { ...write, before: found, after: sum.value };
}

/** What a stock that was read again makes of a row that relies on one. */
export type Rechecked =
  | { readonly kind: 'open'; readonly write: RowWrite }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'conflict'; readonly message: string };

/** Adds an increment to the stock as it is now. Another row is settled by that if its stock has moved. */
export function recheck(write: RowWrite, quantities: Quantities, zeros: ZeroAllowance): Rechecked {
  const found = quantities.get(write.petId);
  if (write.delta !== undefined && found !== undefined) {
    const rebased = rebase(write, found, zeros);
    return typeof rebased === 'string' ? { kind: 'conflict', message: rebased } : { kind: 'open', write: rebased };
  }
  if (found === write.before) return { kind: 'open', write };
  if (found === write.after) return { kind: 'unchanged' };
  return { kind: 'conflict', message: stockMovedMessage(write, quantities) };
}
