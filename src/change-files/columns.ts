import { quoted } from '../inventory/parsed.ts';
import type { FaultList } from './fault.ts';
import { type Field, fieldOf, nearestField, ownNames, type RowField, unknownName } from './fields.ts';

/** Where in a row each field is. */
export interface Columns {
  /** How many cells the header line has. */
  readonly count: number;
  /** Index of the cell of each field that the file has. */
  readonly indexes: Readonly<Partial<Record<RowField, number>>>;
  /** The names as the header line spells them; of what it doesn't have, as petstock does. */
  readonly names: Readonly<Record<RowField, string>>;
  /** Indexes of columns without a name, which have to be empty. */
  readonly unnamed: readonly number[];
}

const noChangeFile = 'this is no change file: the first line has to name the columns, such as petId,quantity,reason';

/**
 * Understands the header line. Every column has to be a known one: of a misspelt `expected`, the precondition would be
 * lost without a word.
 * @returns undefined, with faults, where rows make no sense without the columns that are missing
 */
export function readHeader(cells: readonly string[], line: number, faults: FaultList): Columns | undefined {
  const names = cells.map((cell) => cell.trim());
  if (!names.some((name) => fieldOf(name) !== undefined || nearestField(name) !== undefined)) {
    // Whatever it is, such as a file of keys: none of it is repeated.
    faults.add({ line, message: noChangeFile });
    return undefined;
  }
  const found = new Map<Field, { readonly index: number; readonly name: string }>();
  const unnamed: number[] = [];
  const total = faults.total;
  for (const [index, name] of names.entries()) {
    const field = fieldOf(name);
    const other = field === undefined ? undefined : found.get(field);
    if (name === '') unnamed.push(index);
    else if (field === undefined) faults.add({ line, column: name, message: unknownName(name, 'column') });
    else if (other === undefined) found.set(field, { index, name });
    else faults.add({ line, column: name, message: twice(other.name, name) });
  }
  if (!found.has('petId')) {
    const message = 'there is no column petId: the first line has to name the columns, such as petId,quantity,reason';
    faults.add({ line, message });
    return undefined;
  }
  if (!found.has('quantity') && !found.has('delta')) {
    // A misspelt one is reported already.
    if (faults.total === total) faults.add({ line, message: 'there is neither a column quantity nor a column delta' });
    return undefined;
  }
  const indexes = Object.fromEntries([...found].map(([field, { index }]) => [field, index]));
  const spelled = Object.fromEntries([...found].map(([field, { name }]) => [field, name]));
  return { count: cells.length, indexes, names: { ...ownNames, ...spelled }, unnamed };
}

function twice(first: string, second: string): string {
  return first === second
    ? `the column ${quoted(first)} is there twice`
    : `the columns ${quoted(first)} and ${quoted(second)} are the same: only one of them can be there`;
}
