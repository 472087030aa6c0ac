import type { Change } from '../inventory/change.ts';
import { PetstockError, UsageError } from '../shared/errors.ts';
import { type PetIdInput, petIdOf, type QuantityInput, quantityOf, requireObject, textOf } from './arguments.ts';

/** One change of stock: `quantity` or `delta`. */
export interface ChangeInput {
  readonly petId: PetIdInput;
  /** The new stock. */
  readonly quantity?: QuantityInput | undefined;
  /** The number to add to the stock. */
  readonly delta?: QuantityInput | undefined;
  /** The stock that it relies on: if it differs, the row is a conflict and is not written. */
  readonly expected?: QuantityInput | undefined;
  readonly reason?: string | undefined;
  readonly ref?: string | undefined;
}

/** Reads changes that a program gives. @throws UsageError with every fault, by the number of its change from 1 */
export function readChanges(inputs: Iterable<ChangeInput>): readonly Change[] {
  if (
    typeof inputs === 'string' ||
    typeof (inputs as Partial<Iterable<unknown>> | null)?.[Symbol.iterator] !== 'function'
  ) {
    throw new UsageError('changes must be an array, or can be iterated over');
  }
  const changes: Change[] = [];
  const faults: string[] = [];
  const lineOf = new Map<bigint, number>();
  let line = 0;
  for (const input of inputs) {
    line += 1;
    try {
      const change = readChange(input, line);
      const first = lineOf.get(change.petId);
      if (first === undefined) lineOf.set(change.petId, line);
      else faults.push(`change ${line}: pet ${change.petId} is in change ${first} already`);
      changes.push(change);
    } catch (error) {
      if (!(error instanceof PetstockError)) throw error;
      faults.push(`change ${line}: ${error.message}`);
    }
  }
  if (faults.length === 0) return changes;
  throw new UsageError(`The changes are refused, and nothing was sent: ${faults[0]}`, { lines: faults });
}

function readChange(input: ChangeInput, line: number): Change {
  requireObject(input, 'a change');
  const { quantity, delta, expected } = input;
  if ((quantity === undefined) === (delta === undefined)) {
    throw new UsageError('it must have either quantity or delta');
  }
  return {
    line,
    petId: petIdOf(input.petId),
    quantity: quantity === undefined ? undefined : quantityOf(quantity),
    delta: delta === undefined ? undefined : quantityOf(delta, 'delta'),
    expected: expected === undefined ? undefined : quantityOf(expected, 'expected'),
    reason: textOf(input.reason, 'reason'),
    ref: textOf(input.ref, 'ref'),
  };
}
