import type { Quantities } from '../inventory/pet-id-set.ts';
import { addDelta } from '../inventory/values.ts';
import type { RowWrite } from './row-write.ts';
import { stockMovedMessage } from './verdict.ts';

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
  if (!sum.ok) return sum.fault;
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
export type Relooked =
  | { readonly kind: 'open'; readonly write: RowWrite }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'conflict'; readonly message: string };

/** Adds an increment to the stock as it is now. Another row is settled by that if its stock has moved. */
export function relook(write: RowWrite, quantities: Quantities, zeros: ZeroAllowance): Relooked {
  const found = quantities.get(write.petId);
  if (write.delta !== undefined && found !== undefined) {
    const rebased = rebase(write, found, zeros);
    return typeof rebased === 'string' ? { kind: 'conflict', message: rebased } : { kind: 'open', write: rebased };
  }
  if (found === write.before) return { kind: 'open', write };
  if (found === write.after) return { kind: 'unchanged' };
  return { kind: 'conflict', message: stockMovedMessage(write, quantities) };
}
