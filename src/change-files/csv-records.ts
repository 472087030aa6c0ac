import { broken } from './problems.ts';
import { countLineEnds } from './text.ts';

/** A record of delimited text. A blank line is none. */
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

/** Maximum length of a row in UTF-16 code units. No real row comes close to it. */
const maxRow = 1024 * 1024;

export interface RecordOptions {
  /** Reports whether a column name is known. This helps to detect the delimiter. */
  knows(name: string): boolean;
  /**
   * Reports whether the cells of the first line are of the TSV that `list` writes. In such a text a quote is a part of a
   * name, and a backslash begins an escape.
   */
  isOfList?(cells: readonly string[]): boolean;
}

/**
 * Splits delimited text into records (RFC 4180, with any delimiter and any line end).
 * @throws BrokenFileError if a record is too long, or a quote is never closed
 */
export function* csvRecords(text: string, options: RecordOptions): Generator<CsvRecord> {
  let dialect: Dialect | undefined;
  let line = 1;
  let next = 0;
  for (let at = 0; at < text.length; at = next) {
    const lineEnd = endOfLine(text, at);
    const first = text.slice(at, lineEnd);
    const declared = dialect === undefined ? declaredDelimiter(first) : undefined;
    if (declared !== undefined) dialect = { delimiter: declared, isPlainTsv: false };
    if (declared !== undefined || first.trim() === '') {
      next = afterLineEnd(text, lineEnd);
      line += 1;
      continue;
    }
    dialect ??= dialectOf(text, at, first, options);
    const { cells, end, misquoted } = readRecord(text, at, first, dialect, line);
    yield { line, cells, misquoted, ended: end < text.length, ...dialect };
    line += end === lineEnd ? 1 : 1 + countLineEnds(text, at, end);
    next = afterLineEnd(text, end);
  }
}

type Dialect = Pick<CsvRecord, 'delimiter' | 'isPlainTsv'>;

function dialectOf(text: string, start: number, first: string, { knows, isOfList }: RecordOptions): Dialect {
  const isPlainTsv = first.includes('\t') && isOfList?.(first.split('\t')) === true;
  return { delimiter: isPlainTsv ? '\t' : delimiterOfHeader(text, start, knows), isPlainTsv };
}

/**
 * Reads the record that begins at `start`.
 * @param first its first line
 */
function readRecord(
  text: string,
  start: number,
  first: string,
  { delimiter, isPlainTsv }: Dialect,
  line: number,
): ScannedRecord {
  const end = start + first.length;
  if (isPlainTsv) return { cells: first.split(delimiter).map(unescaped), end };
  // Splitting is faster than scanning.
  if (!first.includes('"')) return { cells: first.split(delimiter), end };
  const record = scanRecord(text, start, delimiter);
  const { openQuote } = record;
  if (openQuote !== undefined) {
    const where = line + countLineEnds(text, start, openQuote);
    broken(where, 'a quote opens here and is never closed: close it, or write it twice if it belongs to the text');
  }
  if (record.end - start > maxRow) {
    broken(line, 'the row that begins here is longer than a megabyte: a quote is probably not closed');
  }
  return record;
}

/** Returns the delimiter with which the header line has the most known columns, or else the most columns. */
function delimiterOfHeader(text: string, start: number, knows: RecordOptions['knows']): string {
  let best = ',';
  let bestScore = -1;
  for (const delimiter of delimiters.keys()) {
    const { cells, openQuote } = scanRecord(text, start, delimiter);
    // No header line has a million columns.
    const score = openQuote === undefined ? cells.filter(knows).length * 1_000_000 + cells.length : 0;
    if (score > bestScore) [best, bestScore] = [delimiter, score];
  }
  return best;
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
  /** The position of an opening quote that is not closed. */
  readonly openQuote?: number | undefined;
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

function endOfLine(text: string, from: number): number {
  const lineBreak = /[\r\n]/g;
  lineBreak.lastIndex = from;
  return lineBreak.exec(text)?.index ?? text.length;
}

function afterLineEnd(text: string, at: number): number {
  return at + (text.startsWith('\r\n', at) ? 2 : 1);
}
