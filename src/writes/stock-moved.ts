import { absenceText, type Quantities } from '../inventory/pet-quantities.ts';
import type { PetWrite } from '../state/history.ts';
import type { RowWrite } from './row-write.ts';

/** Why a row can't be written: a clause without a trailing period. */
export function stockMovedMessage({ petId, before, after }: RowWrite, quantities: Quantities): string {
  const found = quantities.get(petId);
  if (found === undefined) return absenceText(quantities, petId);
  if (before === undefined) return `the stock is ${found}, not ${after} as wanted`;
  return `the stock is ${found}, neither ${before} as before nor ${after} as wanted`;
}

/**
 * Whether a later write counts, given that the stock is as it was before that: one of unknown outcome was not carried out where it
 * would have left another stock. One that would have left this one may have brought the stock back to it.
 */
export function mayBeWritten({ result, quantity }: PetWrite, stock: number): boolean {
  return result !== 'unknown' || quantity === stock;
}

/** The same where the history knows of a later write. */
export function laterWriteMessage({ run, command, result }: PetWrite): string {
  return `run ${run} (${command}) ${result === 'unknown' ? 'may have written' : 'has written'} it since`;
}
