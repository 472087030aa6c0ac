import { parseQuantity } from '../../../inventory/values.ts';
import { UsageError } from '../../../shared/errors.ts';
import { petIdOf, required } from '../values.ts';

/** A pet and the stock that it is to have. */
export interface Assignment {
  readonly petId: bigint;
  readonly quantity: number;
}

const hint = 'petstock inventory set --help';

/**
 * The operands of `set`: `4 12`, or `4=12 5=9`.
 * @returns at least one, and no pet twice
 * @throws UsageError
 */
export function parseAssignments(operands: readonly string[]): readonly [Assignment, ...Assignment[]] {
  const [first = '', second, third] = operands;
  if (!operands.some((operand) => operand.includes('='))) {
    if (second === undefined) throw new UsageError('Missing required argument "quantity"', { hint });
    if (third !== undefined) {
      throw new UsageError('To set several pets, write a pet and its stock as one word: 4=12 5=9', { hint });
    }
    return [{ petId: petIdOf(first), quantity: required(parseQuantity(second)) }];
  }
  const assignments = operands.map(assignmentOf);
  const seen = new Set<bigint>();
  for (const { petId } of assignments) {
    if (seen.has(petId)) throw new UsageError(`Pet ${petId} is there twice: leave one out`);
    seen.add(petId);
  }
  return assignments as [Assignment, ...Assignment[]];
}

function assignmentOf(operand: string): Assignment {
  const at = operand.indexOf('=');
  if (at < 0) throw new UsageError(`"${operand}" has no stock: write 4=12 for each pet, or 4 12 for one`, { hint });
  return { petId: petIdOf(operand.slice(0, at)), quantity: required(parseQuantity(operand.slice(at + 1))) };
}
