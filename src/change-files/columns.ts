import { quoted } from '../inventory/parsed.ts';
import { parsePetId, parseQuantity } from '../inventory/values.ts';
import type { FaultList } from './fault.ts';
import type { FieldNames } from './field-names.ts';
import { type Field, nearestField, ownNames, type RowField } from './fields.ts';

/** Where in a row each field is. */
export interface Columns {
  /** How many cells the header line has. */
  readonly count: number;
  /** Index of the cell of each field that the file has. */
  readonly indexes: Readonly<Partial<Record<Field, number>>>;
  /** The names as the header line spells them; of what it doesn't have, as petstock does. */
  readonly names: Readonly<Record<RowField, string>>;
  /** Indexes of columns without a name, which have to be empty. */
  readonly unnamed: readonly number[];
}

const noChangeFile = 'this is not a change file: the first line has to name the columns, such as petId,quantity,reason';
const noStockList =
  'this is not a stock list: the first line has to name the columns, such as petId,quantity,status, ' +
  'as petstock inventory list -o csv writes them';

/**
 * The columns of a list without a header line, as `list` writes it into a pipe: pet id, quantity, status.
 * @param cells of the first line
 * @returns undefined for any other line: of two numbers it is not known which is which
 */
export function listColumns(cells: readonly string[]): Columns | undefined {
  const [petId = '', quantity = '', status = ''] = cells;
  const isItem = cells.length === 3 && parsePetId(petId).ok && parseQuantity(quantity).ok;
  if (!isItem || !/^\p{L}/u.test(status)) return undefined;
  return { count: 3, indexes: { petId: 0, quantity: 1, status: 2 }, names: ownNames, unnamed: [] };
}

/**
 * Understands the header line. Every column has to be a known one: of a misspelt `expected`, the precondition would be
 * lost without a word.
 * @returns undefined, with faults, where rows make no sense without the columns that are missing
 */
export function readHeader(
  { cells, line }: { readonly cells: readonly string[]; readonly line: number },
  naming: FieldNames,
  faults: FaultList,
): Columns | undefined {
  const names = cells.map((cell) => cell.trim());
  if (isOneColumn(names, naming)) {
    faults.add({ line, message: `${inOneColumn}, here ${quoted(names[0] ?? '')}` });
    return undefined;
  }
  if (!names.some((name) => naming.knows(name) || nearestField(name) !== undefined)) {
    faults.add({ line, message: naming.isStockList ? noStockList : noChangeFile });
    // Whatever it is, such as a file of keys: only what looks like names of columns is repeated.
    if (names.length > 1 && names.every(looksLikeName)) {
      for (const name of names) naming.faultOf(name, 'column');
      faults.remedy = naming.remedy(new Set(), 'column');
    }
    return undefined;
  }
  const total = faults.total;
  const { found, unnamed } = findColumns(names, line, naming, faults);
  const missing = naming.missing('column');
  for (const message of missing) faults.add({ line, message });
  if (missing.length === 0) faults.remedy = naming.remedy(new Set(found.keys()), 'column');
  // One that was named and is missing is reported already.
  if (faults.total > total && !found.has('petId')) return undefined;
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

/** What is said, once, of a file whose columns were not told apart. */
export const inOneColumn =
  'the file is all in one column: in a spreadsheet split it into columns (Data, Text to columns) and save it as CSV again';

/** Reports whether the one cell of a header line holds the names of several columns. */
function isOneColumn(names: readonly string[], naming: FieldNames): boolean {
  const [only, ...others] = names.filter((name) => name !== '');
  if (only === undefined || others.length > 0 || naming.knows(only)) return false;
  return only.split(/[\s,;|:]+/).filter((part) => naming.knows(part)).length > 1;
}

/** A word or several, and no number or key. */
function looksLikeName(name: string): boolean {
  return name.length <= 24 && /^\p{L}[\p{L} _.()/#-]*\d{0,2}$/u.test(name);
}

interface FoundColumns {
  readonly found: ReadonlyMap<Field, { readonly index: number; readonly name: string }>;
  readonly unnamed: readonly number[];
}

function findColumns(names: readonly string[], line: number, naming: FieldNames, faults: FaultList): FoundColumns {
  const found = new Map<Field, { readonly index: number; readonly name: string }>();
  const unnamed: number[] = [];
  for (const [index, name] of names.entries()) {
    const field = naming.fieldOf(name);
    const other = field === undefined ? undefined : found.get(field);
    const unknown = field === undefined && name !== '' ? naming.faultOf(name, 'column') : undefined;
    if (name === '') unnamed.push(index);
    else if (unknown !== undefined) faults.add({ line, column: name, message: unknown });
    else if (field === undefined) continue;
    else if (other === undefined) found.set(field, { index, name });
    else faults.add({ line, column: name, message: twice(other.name, name) });
  }
  return { found, unnamed };
}

function twice(first: string, second: string): string {
  return first === second
    ? `the column ${quoted(first)} is there twice`
    : `the columns ${quoted(first)} and ${quoted(second)} mean the same: leave one out`;
}
