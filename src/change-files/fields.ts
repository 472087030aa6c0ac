import { quoted } from '../inventory/parsed.ts';
import { editDistance } from '../shared/did-you-mean.ts';

/** What a row can tell. */
export const fields = ['petId', 'quantity', 'delta', 'expected', 'reason', 'ref', 'status'] as const;
export type Field = (typeof fields)[number];
/** What of a row is read: the status is there for people. */
export type RowField = Exclude<Field, 'status'>;

export const rowFields: readonly RowField[] = ['petId', 'quantity', 'delta', 'expected', 'reason', 'ref'];

/** A row in which nothing is filled in. */
export const blankCells: Readonly<Record<RowField, string>> = {
  petId: '',
  quantity: '',
  delta: '',
  expected: '',
  reason: '',
  ref: '',
};

/** The names that petstock gives the fields. */
export const ownNames: Readonly<Record<RowField, string>> = {
  petId: 'petId',
  quantity: 'quantity',
  delta: 'delta',
  expected: 'expected',
  reason: 'reason',
  ref: 'ref',
};

/** By name as `plainName` has it. */
const byName: ReadonlyMap<string, Field> = new Map<string, Field>([
  ...fields.map((field) => [field.toLowerCase(), field] as const),
  ['id', 'petId'],
  ['qty', 'quantity'],
  ['adjust', 'delta'],
]);

/** Other words that people have for the same: not read, but understood. */
const synonyms: ReadonlyMap<string, Field> = new Map<string, Field>([
  ['pet', 'petId'],
  ['petnumber', 'petId'],
  ['amount', 'quantity'],
  ['count', 'quantity'],
  ['newquantity', 'quantity'],
  ['newstock', 'quantity'],
  ['stock', 'quantity'],
  ['adjustment', 'delta'],
  ['change', 'delta'],
  ['difference', 'delta'],
  ['expect', 'expected'],
  ['oldquantity', 'expected'],
  ['comment', 'reason'],
  ['note', 'reason'],
  ['reference', 'ref'],
]);

/** The field of a column or a JSON member, whatever its case, spaces, `_` and `-`; undefined for an unknown one. */
export function fieldOf(name: string): Field | undefined {
  return byName.get(name) ?? byName.get(plainName(name));
}

/** The field of that name that a row is read from; undefined for another name. */
export function rowFieldOf(name: string): RowField | undefined {
  const field = fieldOf(name.trim());
  return field === 'status' ? undefined : field;
}

/** The field that an unknown name was probably meant to be. */
export function nearestField(name: string): Field | undefined {
  const typed = plainName(name);
  const synonym = synonyms.get(typed);
  // No name is more than a few letters long, so neither is anything near one.
  if (synonym !== undefined || typed.length < 3 || typed.length > 12) return synonym;
  let nearest: Field | undefined;
  let distance = typed.length < 5 ? 2 : 3;
  for (const [known, field] of byName) {
    const letters = editDistance(typed, known);
    if (letters < distance) {
      nearest = field;
      distance = letters;
    }
  }
  return nearest;
}

/** Why a column or JSON field can't be there. */
export function unknownName(name: string, kind: 'column' | 'field'): string {
  const nearest = nearestField(name);
  const known = `the ${kind}s are petId, quantity or delta, and optionally expected, reason, ref, status`;
  return `${quoted(name)} is not a ${kind} that petstock knows: ${nearest === undefined ? known : `did you mean ${nearest}?`}`;
}

/** A name without regard to case, white space, `_` and `-`. */
export function plainName(name: string): string {
  return name.replace(/[\s_-]/g, '').toLowerCase();
}
