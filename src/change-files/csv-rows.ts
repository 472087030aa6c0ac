import { type FieldName, fieldNames, fieldOf, readOnlyFields, shownFields } from '../inventory/item-fields.ts';
import { parsePetId, parseQuantity } from '../inventory/items.ts';
import { unguarded } from '../output/delimited.ts';
import { quoted } from '../shared/parsed.ts';
import { type CsvRecord, csvRecords, delimiterName } from './csv-records.ts';
import {
  type Field,
  type FieldNames,
  type FieldTexts,
  looksLikeName,
  nearestField,
  type RawRow,
} from './field-names.ts';
import type { ProblemList } from './problems.ts';

const guardedFields: ReadonlySet<Field> = new Set(['reason', 'ref', ...readOnlyFields]);

interface Columns {
  /** Number of cells in the header line. */
  readonly count: number;
  /** The fields of the table, and for each the index of its cell. */
  readonly fields: readonly { readonly field: Field; readonly index: number }[];
  /** The names as the header line spells them. */
  readonly names: FieldTexts;
  /** Indexes of columns without a name; these columns must be empty. */
  readonly unnamed: readonly number[];
}

export class CsvRows {
  /** Whether each row so far has a cell for each column; undefined before the first. */
  #areAllFull: boolean | undefined;

  /** @param isStockList whether the file is a stock list (it needs no header line) instead of a change file */
  constructor(
    private readonly faults: ProblemList,
    private readonly names: FieldNames,
    private readonly isStockList: boolean,
  ) {}

  /**
   * Yields the rows of a text.
   * @throws BrokenFileError if the rest can't be understood
   */
  *read(text: string): Generator<RawRow> {
    const { isStockList, names } = this;
    const isOfList = (cells: readonly string[]) =>
      isListHeader(cells) || (isStockList && listColumns(cells) !== undefined);
    let columns: Columns | undefined;
    let hasBegun = false;
    for (const record of csvRecords(text, { knows: names.knows, isOfList })) {
      if (record.cells.every(isBlank)) continue;
      if (!hasBegun) {
        hasBegun = true;
        const implied = isStockList ? listColumns(record.cells) : undefined;
        columns = implied ?? this.#readHeader(record);
        if (implied === undefined) continue;
      }
      const row = columns && this.#rowOf(record, columns);
      if (row !== undefined) yield row;
    }
    if (!hasBegun) this.faults.add({ line: 1, message: 'the file is empty' });
  }

  /** Returns the row of a record; undefined, and adds an error, if the cells can't be assigned to columns. */
  #rowOf(record: CsvRecord, columns: Columns): RawRow | undefined {
    const { line, cells } = record;
    const problem = shapeProblem(record, columns, this.#areAllFull);
    this.#areAllFull = this.#areAllFull !== false && cells.length >= columns.count;
    if (problem === undefined) return { line, names: columns.names, cells: cellTexts(record, columns) };
    this.faults.add({ line, message: problem });
    return undefined;
  }

  /**
   * Reads the header line. An unknown column is an error unless it may be ignored: with a misspelt `expected`, the
   * precondition would be lost silently.
   * @returns undefined, and adds errors, if required columns are missing
   */
  #readHeader({ cells, line }: CsvRecord): Columns | undefined {
    const { faults: problems, names: naming } = this;
    const names = cells.map((cell) => cell.trim());
    const problem = (message: string) => void problems.add({ line, message });
    if (isOneColumn(names, naming)) return problem(`${inOneColumn}, here ${quoted(names[0] ?? '')}: ${howToSplit}`);
    if (!names.some((name) => naming.knows(name) || nearestField(name) !== undefined)) {
      problem(this.isStockList ? noStockList : noChangeFile);
      // The file may be anything, such as a file of keys: only text that looks like column names is repeated.
      const nameLike = names.filter(looksLikeName);
      if (nameLike.length > 1 && nameLike.length > names.length / 2) {
        for (const name of nameLike) naming.faultOf(name);
        problems.remedy = naming.remedy();
      }
      return undefined;
    }
    const { total } = problems;
    const columns = this.#findColumns(names, line);
    const found = new Set(columns.fields.map(({ field }) => field));
    naming.finish(problems, line, found);
    const hasStock = found.has('quantity') || found.has('delta');
    if (found.has('petId') && hasStock) return columns;
    // A column that is misspelt, or that was named and is missing, has already been reported.
    if (problems.total > total) return undefined;
    return problem(
      found.has('petId')
        ? `there is no column named quantity${this.isStockList ? '' : ' or delta'}`
        : 'there is no column named petId: the first line must name the columns, such as petId,quantity,reason',
    );
  }

  #findColumns(names: readonly string[], line: number): Columns {
    const fields: { readonly field: Field; readonly index: number }[] = [];
    const unnamed: number[] = [];
    const problem = (column: string, message: string) => this.faults.add({ line, column, message });
    this.names.begin(() => names);
    for (const [index, name] of names.entries()) {
      const field = this.names.fieldNamed(name);
      const other = fields.find((one) => one.field === field);
      if (name === '') unnamed.push(index);
      else if (field === undefined) {
        const unknown = this.names.faultOf(name);
        if (unknown !== undefined) problem(name, unknown);
      } else if (other === undefined) fields.push({ field, index });
      else {
        const repeated = this.names.faultOfRepeated(other.field, names[other.index] ?? '', name);
        if (repeated !== undefined) problem(name, repeated);
      }
    }
    const spelled = Object.fromEntries(fields.map(({ field, index }) => [field, names[index] ?? '']));
    return { count: names.length, fields, names: spelled, unnamed };
  }
}

function cellTexts({ cells, isPlainTsv }: CsvRecord, { fields }: Columns): FieldTexts {
  const texts: Partial<Record<Field, string>> = {};
  for (const { field, index } of fields) {
    const text = cells[index] ?? '';
    texts[field] = guardedFields.has(field) && !isPlainTsv ? unguarded(text) : text;
  }
  return texts;
}

/**
 * Returns why the cells of a row can't be assigned to columns; undefined if they can. Missing cells at the end are
 * blank, because Excel omits them if a block of rows has nothing in them. If all rows before have all cells, and the
 * last line has fewer and no line end, the file was cut off. Blank cells beyond the header's columns are ignored.
 */
function shapeProblem(
  record: CsvRecord,
  { count, unnamed }: Columns,
  areOthersFull: boolean | undefined,
): string | undefined {
  const { cells, delimiter, ended, misquoted } = record;
  if (misquoted !== undefined) {
    return `cell ${misquoted} continues after its closing quote: write a quote twice if it belongs to the text`;
  }
  if (cells.length > count && !cells.slice(count).every(isBlank)) {
    const name = delimiterName(delimiter);
    return `the row has ${cells.length} cells, but the first row has ${count}: put quotes around a text with a ${name}, and write numbers without a ${name}`;
  }
  if (cells.length < count && !ended && areOthersFull === true) {
    const found = cells.length === 1 ? '1 cell' : `${cells.length} cells`;
    return `the file breaks off here: the last line has ${found}, but the first row has ${count}`;
  }
  const stray = unnamed.find((index) => !isBlank(cells[index] ?? ''));
  return stray === undefined ? undefined : `cell ${stray + 1} is filled in, but its column has no name in the header`;
}

function isBlank(cell: string): boolean {
  return cell.trim() === '';
}

const noChangeFile = 'this is not a change file: the first line must name the columns, such as petId,quantity,reason';
const noStockList =
  'this is not a stock list: the first line must name the columns, such as petId,quantity,status, ' +
  'as petstock inventory list -o csv writes them';
/** The error, reported once, for a file whose columns are not separated. */
const inOneColumn = 'the file is all in one column';
const howToSplit = 'in a spreadsheet split it into columns (Data, Text to columns) and save it as CSV again';

/** Reports whether the cells are the header line that `list` writes. */
function isListHeader(cells: readonly string[]): boolean {
  return cells.includes('petId') && cells.every((cell) => shownFields.some((field) => field === cell));
}

/**
 * Returns the columns of a list without a header line, as `list` writes it into a pipe: the fields of the service, and
 * those of the shop if there are any. Undefined for any other first line, because the meaning of two numbers is
 * ambiguous.
 */
function listColumns(cells: readonly string[]): Columns | undefined {
  const required = fieldNames.filter((name) => !fieldOf(name).mayBeAbsent);
  const written = [required, fieldNames, shownFields].find(({ length }) => length === cells.length);
  const cellOf = (field: FieldName) => cells[written?.indexOf(field) ?? -1] ?? '';
  const isItem = parsePetId(cellOf('petId')).ok && parseQuantity(cellOf('quantity')).ok;
  if (written === undefined || !isItem || !/^\p{L}/u.test(cellOf('status'))) return undefined;
  const fields = written.map((field, index) => ({ field, index }));
  return { count: fields.length, fields, names: {}, unnamed: [] };
}

/** Reports whether the only cell of a header line contains the names of several columns. */
function isOneColumn(names: readonly string[], { knows }: FieldNames): boolean {
  const [only = '', ...others] = names.filter((name) => name !== '');
  if (others.length > 0 || knows(only)) return false;
  if (only.split(/[\s,;|:]+/).filter(knows).length > 1) return true;
  const parts = only.split(/[,;|\t]/).map((part) => part.trim());
  return parts.length > 1 && parts.some(knows) && parts.every(looksLikeName);
}
