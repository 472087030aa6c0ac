import { quoted } from '../inventory/parsed.ts';
import { parsePetId, parseQuantity } from '../inventory/values.ts';
import { type DelimitedRow, delimiterName, RecordScanner } from './csv-records.ts';
import type { FaultList } from './fault.ts';
import { type Field, type FieldNames, nearestField, ownNames, type RawRow, type RowField } from './field-names.ts';
import type { RowReader } from './text.ts';

/** Text that our export has put an apostrophe before; see `change-file-text.ts`. */
const guarded = /^'+[=+\-@\t\r＝＋－＠]/;

/** Reads CSV, TSV and their kin. */
export class DelimitedRows implements RowReader {
  #header: 'awaited' | 'useless' | Columns = 'awaited';
  readonly #scanner: RecordScanner;
  /** It was said that rows are all in one column. */
  #isInOneColumn = false;

  constructor(
    private readonly faults: FaultList,
    private readonly onRow: (row: RawRow) => void,
    private readonly names: FieldNames,
  ) {
    this.#scanner = new RecordScanner((row) => this.#read(row), names);
  }

  write(text: string): void {
    this.#scanner.write(text);
  }

  end(): void {
    this.#scanner.end();
    if (this.#header === 'awaited') this.faults.add({ line: 1, message: 'the file is empty' });
  }

  #read(row: DelimitedRow): void {
    if (row.cells.every(isBlank)) return;
    if (this.#header === 'awaited') {
      const implied = this.names.isStockList ? listColumns(row.cells) : undefined;
      this.#header = implied ?? readHeader(row, this.names, this.faults) ?? 'useless';
      if (implied === undefined) return;
    }
    if (this.#header !== 'useless') this.#readCells(row, this.#header);
  }

  #readCells(row: DelimitedRow, columns: Columns): void {
    const { line, cells } = row;
    if (columns.count > 1 && isInOneColumn(cells)) {
      if (!this.#isInOneColumn) this.faults.add({ line, message: `${inOneColumn}, from this line on` });
      this.#isInOneColumn = true;
      return;
    }
    const message = misshapen(row, columns);
    if (message !== undefined) {
      this.faults.add({ line, message });
      return;
    }
    const { indexes, names } = columns;
    const cell = (index: number | undefined): string => (index === undefined ? '' : (cells[index] ?? ''));
    this.onRow({
      line,
      names,
      status: withoutGuard(cell(indexes.status)),
      cells: {
        petId: cell(indexes.petId),
        quantity: cell(indexes.quantity),
        delta: cell(indexes.delta),
        expected: cell(indexes.expected),
        reason: withoutGuard(cell(indexes.reason)),
        ref: withoutGuard(cell(indexes.ref)),
      },
    });
  }
}

/**
 * Why the cells of a row can't be separated. Cells that are missing at the end are blank, since Excel leaves them out
 * where a block of rows has nothing in them; but not in a last line without a line end, which is what is left of a file
 * that was cut off. Blank cells past the header's are harmless.
 */
function misshapen(row: DelimitedRow, { count, unnamed }: Columns): string | undefined {
  const { cells, delimiter, ended, misquoted } = row;
  if (misquoted !== undefined) {
    return `cell ${misquoted} goes on after its closing quote: inside a text, write a quote twice`;
  }
  if (cells.length > count && !cells.slice(count).every(isBlank)) {
    const name = delimiterName(delimiter);
    return `there are ${cells.length} cells, and the header has ${count}: a ${name} inside a text needs quotes around the text, and a number has none`;
  }
  if (cells.length < count && !ended) {
    return `the file breaks off here: the last line has ${counted(cells.length)}, and the header has ${count}`;
  }
  const stray = unnamed.find((index) => !isBlank(cells[index] ?? ''));
  return stray === undefined ? undefined : `cell ${stray + 1} is filled in, but its column has no name in the header`;
}

function counted(cells: number): string {
  return cells === 1 ? '1 cell' : `${cells} cells`;
}

/** Reports whether a row is in its first cell, with another delimiter than the header line. */
function isInOneColumn([first = '', ...others]: readonly string[]): boolean {
  return others.length === 0 && /^["']?-?\d+["']?\s*[,;|\t]/.test(first);
}

function isBlank(cell: string): boolean {
  return cell === '' || cell.trim() === '';
}

function withoutGuard(text: string): string {
  return text.startsWith("'") && guarded.test(text) ? text.slice(1) : text;
}

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
const inOneColumn =
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
