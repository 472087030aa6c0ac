import type { RawRow } from '../collector.ts';
import { type Columns, inOneColumn, listColumns, readHeader } from '../columns.ts';
import type { FaultList } from '../fault.ts';
import type { FieldNames } from '../field-names.ts';
import type { RowReader } from '../row-reader.ts';
import { delimiterName } from './dialect.ts';
import { type DelimitedRow, RecordScanner } from './record-scanner.ts';

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
