import type { PetNames } from '../../inventory/bar-codes.ts';
import type { BulkRow } from '../../inventory/change.ts';
import { planTotals } from '../../inventory/plan.ts';
import { counted, grouped } from '../../inventory/values.ts';
import { plainName } from '../../shared/sanitize.ts';
import { type Where, whereName } from '../../shared/where.ts';

/** The verb of a command in its question. */
export interface Intention {
  readonly verb: 'Write' | 'Take back';
  /** Anything unusual about it: `stock.csv was applied at 02:03 by run x7k2`. The question then says that it is a second time. */
  readonly earlier?: string | undefined;
  /** Other facts to know, as clauses: `as it was before run x7k2`. */
  readonly facts?: readonly string[] | undefined;
}

/** Returns the question about a plan, with all that is at stake in it: the store, how many changes and units, what is unusual. */
export function planQuestion(rows: readonly BulkRow[], where: Where, intention: Intention, names?: PetNames): string {
  const planned = rows.filter(({ result }) => result === 'planned');
  const [only] = planned;
  const facts = (intention.facts ?? []).map((fact) => `, ${fact}`).join('');
  if (planned.length === 1 && only !== undefined && intention.earlier === undefined) {
    const ask = intention.verb === 'Write' ? 'Write it?' : 'Take it back?';
    return `${onePet(only, where, names?.get(only.petId))}${facts}. ${zeroText(planned)}${ask}`;
  }
  const place = whereName(where);
  const changes = counted(planned.length, 'change');
  const what =
    intention.earlier !== undefined
      ? `Add ${changes} to ${place} a SECOND time? ${intention.earlier}.`
      : `${intention.verb} ${changes} ${intention.verb === 'Write' ? 'to' : 'in'} ${place}${facts}?`;
  const { added, removed } = planTotals(planned);
  const units = `Units: ${grouped(added)} added, ${grouped(removed)} removed.`;
  return `${what} ${units} ${zeroText(planned)}`.trimEnd();
}

/** `Pet 4 Rex in staging: 39 → 12 (-27)` */
export function onePet({ petId, before, after }: BulkRow, where: Where, name?: string): string {
  const pet = name === undefined ? `${petId}` : `${petId} ${plainName(name)}`;
  const place = `Pet ${pet} in ${whereName(where)}`;
  if (before === undefined || after === undefined) return `${place}: ? → ${after ?? '?'}`;
  const change = BigInt(after) - BigInt(before);
  return `${place}: ${grouped(before)} → ${grouped(after)} (${change < 0n ? '' : '+'}${grouped(change)})`;
}

function zeroText(rows: readonly BulkRow[]): string {
  const { toZero, belowZero } = planTotals(rows);
  if (rows.length === 1) return belowZero > 0 ? 'That is BELOW ZERO. ' : toZero > 0 ? 'That is zero. ' : '';
  const parts = [
    ...(toZero > 0 ? [`${counted(toZero, 'pet')} to 0`] : []),
    ...(belowZero > 0 ? [`${counted(belowZero, 'pet')} BELOW ZERO`] : []),
  ];
  return parts.length === 0 ? '' : `${parts.join(', ')}. `;
}
