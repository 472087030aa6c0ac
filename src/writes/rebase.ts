import { addDelta } from '../inventory/values.ts';
import type { RowWrite } from './row-write.ts';

/** The zeros that increments may still come to besides those of the plan. */
export interface ZeroAllowance {
  left: number;
}

/**
 * Returns an increment added to the stock that was found now, or why it can't be: a clause without a trailing period.
 *
 * - a sum that no quantity can hold: refused
 * - below zero where the last look was not: refused, since nobody has agreed to that
 * - to zero where the last look was above: refused once that is more than `max-zero` allows
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
