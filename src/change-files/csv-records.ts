import { broken } from './problems.ts';
import { countLineEnds, maxRow } from './text.ts';

/** A record of delimited text. A blank line is not a record. */
export interface CsvRecord {
  /** The line on which the record begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
  readonly delimiter: string;
  /** Whether the record has a line end; only the last record of a file may have none. */
  readonly ended: boolean;
  /**
   * The number of the first cell (from 1) with text after its closing quote. RFC 4180 does not allow that, and its
   * meaning is ambiguous.
   */
  readonly misquoted: number | undefined;
  /** Whether the cells are plain TSV, as `list` writes it, and no text was guarded against formulas. */
  readonly isPlainTsv: boolean;
}

/** Splits delimited text into records (RFC 4180, with any delimiter and any line end). */
export class CsvRecords {
  /** The unread rest begins at `#at`, on line `#line`. */
  #text = '';
  #at = 0;
  #line = 1;
  #delimiter: string | undefined;
  #isPlainTsv = false;

  /**
   * @param knows reports whether a column name is known (this helps to detect the delimiter)
   * @param isOfList reports whether the cells of the first line are of the TSV that `list` writes. In such a text a quote
   * is a part of a name, and a backslash begins an escape
   */
  constructor(
    private readonly knows: (name: string) => boolean,
    private readonly isOfList: (cells: readonly string[]) => boolean = () => false,
  ) {}

  /**
   * Yields the records that end in the text so far. The start of an incomplete record is kept and scanned again with
   * the next piece; `maxRow` limits the cost of that.
   * @param piece the next piece of the text; it doesn't end between CR and LF
   * @param isLast whether nothing follows
   * @throws BrokenFileError if a record is too long, or a quote is never closed
   */
  *read(piece: string, isLast: boolean): Generator<CsvRecord> {
    this.#text = this.#text.slice(this.#at) + piece;
    this.#at = 0;
    for (let line = this.#nextLine(isLast); line !== undefined; line = this.#nextLine(isLast)) {
      this.#delimiter ??= this.#plainTsv(line) ?? this.#delimiterOfHeader(isLast);
      const delimiter = this.#delimiter;
      if (delimiter === undefined) break;
      const isPlain = this.#isPlainTsv || !line.includes('"');
      const record = isPlain ? plainRecord(this.#at, line, delimiter) : scanRecord(this.#text, this.#at, delimiter);
      const { cells, end, misquoted, openQuote } = record;
      const ended = end < this.#text.length;
      if (!ended && !isLast) break;
      if (openQuote !== undefined) this.#unclosed(openQuote, 'never closed');
      const isPlainTsv = this.#isPlainTsv;
      const texts = isPlainTsv ? cells.map(unescaped) : cells;
      const found = { line: this.#line, cells: texts, delimiter, ended, misquoted, isPlainTsv };
      this.#advance(end, isPlain ? 1 : 1 + countLineEnds(this.#text, this.#at, end));
      yield found;
    }
    if (this.#text.length - this.#at <= maxRow) return;
    const { openQuote } = scanRecord(this.#text, this.#at, this.#delimiter ?? ',');
    if (openQuote !== undefined) this.#unclosed(openQuote, 'not closed within a megabyte');
    broken(this.#line, 'the line is longer than a megabyte: this is probably not a table');
  }

  /** Returns the first line of the next record, after blank lines and `sep=;`; undefined if it is incomplete. */
  #nextLine(isLast: boolean): string | undefined {
    while (this.#at < this.#text.length) {
      const end = lineEnd(this.#text, this.#at);
      if (end === this.#text.length && !isLast) return undefined;
      const line = this.#text.slice(this.#at, end);
      const declared = this.#delimiter === undefined ? declaredDelimiter(line) : undefined;
      if (declared === undefined && line.trim() !== '') return line;
      this.#delimiter ??= declared;
      this.#advance(end, 1);
    }
    return undefined;
  }

  /** Returns a tab if the first line is of the TSV that `list` writes. */
  #plainTsv(line: string): string | undefined {
    this.#isPlainTsv = line.includes('\t') && this.isOfList(line.split('\t'));
    return this.#isPlainTsv ? '\t' : undefined;
  }

  /**
   * Returns the delimiter with which the header line has the most known columns, or else the most columns; undefined if
   * the header line may continue after the text.
   */
  #delimiterOfHeader(isLast: boolean): string | undefined {
    let best = ',';
    let bestScore = -1;
    for (const delimiter of delimiters.keys()) {
      const { cells, end, openQuote } = scanRecord(this.#text, this.#at, delimiter);
      if (end === this.#text.length && !isLast) return undefined;
      // No header line has a million columns.
      const score = openQuote === undefined ? cells.filter(this.knows).length * 1_000_000 + cells.length : 0;
      if (score > bestScore) [best, bestScore] = [delimiter, score];
    }
    return best;
  }

  #advance(end: number, lines: number): void {
    this.#at = end + (this.#text.startsWith('\r\n', end) ? 2 : 1);
    this.#line += lines;
  }

  #unclosed(quote: number, how: string): never {
    const line = this.#line + countLineEnds(this.#text, this.#at, quote);
    return broken(line, `a quote opens here and is ${how}: close it, or write it twice if it belongs to the text`);
  }
}

/** The possible delimiters and their names. If the header line is ambiguous, the order decides. */
const delimiters: ReadonlyMap<string, string> = new Map([
  [',', 'comma'],
  [';', 'semicolon'],
  ['\t', 'tab'],
  ['|', 'vertical bar'],
]);

export function delimiterName(delimiter: string): string {
  return delimiters.get(delimiter) ?? delimiter;
}

/** Returns the delimiter that Excel declares in a line before the header: `sep=;`. */
function declaredDelimiter(line: string): string | undefined {
  return /^"?sep=([^"\w\r\n])"? *$/i.exec(line)?.[1];
}

interface ScannedRecord {
  readonly cells: readonly string[];
  /** The position at which the record's line end begins, or the text ends. */
  readonly end: number;
  readonly misquoted?: number | undefined;
  /** The position of an opening quote that the text does not close. */
  readonly openQuote?: number | undefined;
}

/** Reads a record that is one line without quotes. This is faster than `scanRecord`. */
function plainRecord(start: number, line: string, delimiter: string): ScannedRecord {
  return { cells: line.split(delimiter), end: start + line.length };
}

/**
 * Reads the record that begins at `start`. As in spreadsheets, a quote inside an unquoted cell is an ordinary character
 * (`5" nail`), and spaces around a quoted cell are ignored.
 */
function scanRecord(text: string, start: number, delimiter: string): ScannedRecord {
  const cells: string[] = [];
  let misquoted: number | undefined;
  const rest = `[^\\${delimiter}\r\n]*`;
  // Matches a quoted cell with the text after its closing quote, otherwise an unquoted cell.
  const pattern = new RegExp(` *"([^"]*(?:""[^"]*)*)"(?!") *(${rest})|${rest}`, 'y');
  for (let at = start; ; at += 1) {
    pattern.lastIndex = at;
    const [cell = '', inQuotes, after = ''] = pattern.exec(text) ?? [];
    if (inQuotes === undefined && /^ *"/.test(cell)) {
      return { cells, end: text.length, openQuote: at + cell.indexOf('"') };
    }
    cells.push(inQuotes?.replaceAll('""', '"') ?? cell);
    if (after !== '') misquoted ??= cells.length;
    at += cell.length;
    if (text[at] !== delimiter) return { cells, end: at, misquoted };
  }
}

const escapes: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', '\\': '\\' };

/** Resolves the escapes of TSV, see `tsv` in the output. */
function unescaped(cell: string): string {
  return cell.includes('\\') ? cell.replace(/\\([tnr\\])/g, (_, letter: string) => escapes[letter] ?? letter) : cell;
}

function lineEnd(text: string, from: number): number {
  const lineBreak = /[\r\n]/g;
  lineBreak.lastIndex = from;
  return lineBreak.exec(text)?.index ?? text.length;
}
