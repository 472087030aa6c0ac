import { broken } from './fault.ts';
import { FieldNames } from './field-names.ts';
import { countLineEnds, longestRow } from './text.ts';

/** One row of delimited text that is not blank. */
export interface DelimitedRow {
  /** The line on which it begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
  /** What stands between its cells. */
  readonly delimiter: string;
  /** See `ScannedRecord`. */
  readonly ended: boolean;
  readonly misquoted: number | undefined;
}

/**
 * Cuts delimited text into rows. A row that the text so far doesn't hold as a whole is read again once there is more,
 * which keeps the state to a position; `longestRow` bounds what that costs.
 */
export class RecordScanner {
  #text = '';
  #at = 0;
  #line = 1;
  #delimiter: string | undefined;
  readonly #quote = new Finder('"');
  readonly #lf = new Finder('\n');
  readonly #cr = new Finder('\r');

  constructor(
    private readonly onRow: (row: DelimitedRow) => void,
    private readonly names: Pick<FieldNames, 'knows'> = new FieldNames(),
  ) {}

  /**
   * @param text the next piece, which doesn't end between CR and LF
   * @throws BrokenFileError where a row is too long
   */
  write(text: string): void {
    this.#text = this.#text.slice(this.#at) + text;
    this.#at = 0;
    for (const finder of [this.#quote, this.#lf, this.#cr]) finder.reset();
    while (this.#next(false)) {}
    if (this.#text.length - this.#at <= longestRow) return;
    const record = scanRecord(this.#text, this.#at, this.#delimiter ?? ',');
    if (record.kind === 'open') this.#unclosed(record.quote);
    broken(this.#line, 'the line is longer than a megabyte: this is not a list of changes');
  }

  /** @throws BrokenFileError where a quote is never closed */
  end(): void {
    while (this.#next(true)) {}
  }

  /** Reads one row. @returns false where there is no whole one */
  #next(last: boolean): boolean {
    const start = this.#at;
    if (start >= this.#text.length) return false;
    const end = Math.min(this.#lf.from(this.#text, start), this.#cr.from(this.#text, start));
    const whole = end < this.#text.length;
    if (!whole && !last) return false;
    const text = this.#text.slice(start, end);
    const declared = this.#delimiter === undefined ? declaredDelimiter(text) : undefined;
    if (declared !== undefined || text.trim() === '') {
      this.#delimiter ??= declared;
      this.#advance(end + lineEndLength(this.#text, end), 1);
      return true;
    }
    this.#delimiter ??= delimiterOf(this.#text, start, { last, names: this.names });
    if (this.#delimiter === undefined) return false;
    if (this.#quote.from(this.#text, start) < end) return this.#nextQuoted(this.#delimiter, last);
    const delimiter = this.#delimiter;
    const row = { line: this.#line, cells: text.split(delimiter), delimiter, ended: whole, misquoted: undefined };
    this.#advance(end + lineEndLength(this.#text, end), 1);
    this.onRow(row);
    return true;
  }

  #nextQuoted(delimiter: string, last: boolean): boolean {
    const record = scanRecord(this.#text, this.#at, delimiter);
    if (record.kind === 'open') return last ? this.#unclosed(record.quote) : false;
    if (!record.ended && !last) return false;
    const { cells, ended, misquoted } = record;
    const row = { line: this.#line, cells, delimiter, ended, misquoted };
    this.#advance(record.end, record.lines);
    this.onRow(row);
    return true;
  }

  #advance(at: number, lines: number): void {
    this.#at = at;
    this.#line += lines;
  }

  #unclosed(quote: number): never {
    const line = this.#line + countLineEnds(this.#text, this.#at, quote);
    return broken(line, 'a quote opens here and is never closed: close it, or inside a text, write a quote twice');
  }
}

/** Finds a character again and again, each time further on, without going over the same text twice. */
class Finder {
  #found = -1;

  constructor(private readonly character: string) {}

  /** For a new text. */
  reset(): void {
    this.#found = -1;
  }

  /** Its first place at or after `start`; the length of the text where it does not occur. */
  from(text: string, start: number): number {
    if (this.#found < start) {
      const found = text.indexOf(this.character, start);
      this.#found = found === -1 ? text.length : found;
    }
    return this.#found;
  }
}

/** What may stand between two cells, and its name. The order decides where the header line leaves it open. */
const delimiters: ReadonlyMap<string, string> = new Map([
  [',', 'comma'],
  [';', 'semicolon'],
  ['\t', 'tab'],
  ['|', 'vertical bar'],
]);

/** For people: `semicolon`. */
export function delimiterName(delimiter: string): string {
  return delimiters.get(delimiter) ?? delimiter;
}

/**
 * The delimiter that makes the most known columns of the header line at `start`, and of several that do, the one that
 * makes the most columns at all.
 * @param last whether the text is all there is
 * @returns undefined where the header line may go on after the text
 */
export function delimiterOf(
  text: string,
  start: number,
  { last, names }: { readonly last: boolean; readonly names: Pick<FieldNames, 'knows'> },
): string | undefined {
  let best = ',';
  let bestScore = -1;
  for (const delimiter of delimiters.keys()) {
    const header = scanRecord(text, start, delimiter);
    if (header.kind === 'open' && !last) return undefined;
    const cells = header.kind === 'record' ? header.cells : [];
    const known = cells.filter((cell) => names.knows(cell)).length;
    // No header line has a million columns.
    const score = known * 1_000_000 + cells.length;
    if (score > bestScore) {
      best = delimiter;
      bestScore = score;
    }
  }
  return best;
}

/** Excel's way to name the delimiter in a line before the header: `sep=;`. */
function declaredDelimiter(line: string): string | undefined {
  return /^"?sep=([^"\w\r\n])"? *$/i.exec(line)?.[1];
}

/** One record of delimited text, RFC 4180. */
interface ScannedRecord {
  readonly kind: 'record';
  readonly cells: readonly string[];
  /** After the record and its line end. */
  readonly end: number;
  /** Line ends in the record, its own included. */
  readonly lines: number;
  /** It has a line end of its own; only the last record of a file may have none. */
  readonly ended: boolean;
  /** Number of the first cell, from 1, with text after its closing quote: not RFC 4180, and no telling what is meant. */
  readonly misquoted: number | undefined;
}

/** The text ends before the quote that opens at `quote` is closed. */
interface OpenQuote {
  readonly kind: 'open';
  readonly quote: number;
}

/**
 * Reads the record that begins at `start`. As spreadsheets do, it takes a quote inside of an unquoted cell for a
 * character like others (`5" nail`); blanks around a quoted cell are no part of it.
 */
export function scanRecord(text: string, start: number, delimiter: string): ScannedRecord | OpenQuote {
  const cells: string[] = [];
  let misquoted: number | undefined;
  let at = start;
  for (;;) {
    const quote = skipBlanks(text, at);
    if (text[quote] === '"') {
      const close = closingQuote(text, quote + 1);
      if (close === -1) return { kind: 'open', quote };
      cells.push(text.slice(quote + 1, close).replaceAll('""', '"'));
      const next = skipBlanks(text, close + 1);
      at = cellEnd(text, next, delimiter);
      if (at > next) misquoted ??= cells.length;
    } else {
      const end = cellEnd(text, at, delimiter);
      cells.push(text.slice(at, end));
      at = end;
    }
    if (text[at] !== delimiter) break;
    at += 1;
  }
  const end = at + lineEndLength(text, at);
  return { kind: 'record', cells, end, lines: countLineEnds(text, start, end), ended: end > at, misquoted };
}

/** 2 for CRLF, 1 for LF and CR, 0 at the end of the text. */
function lineEndLength(text: string, at: number): number {
  if (text[at] === '\r') return text[at + 1] === '\n' ? 2 : 1;
  return text[at] === '\n' ? 1 : 0;
}

function cellEnd(text: string, start: number, delimiter: string): number {
  let at = start;
  while (at < text.length && text[at] !== delimiter && text[at] !== '\n' && text[at] !== '\r') at += 1;
  return at;
}

function closingQuote(text: string, start: number): number {
  let at = text.indexOf('"', start);
  while (at !== -1 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}

function skipBlanks(text: string, start: number): number {
  let at = start;
  while (text[at] === ' ') at += 1;
  return at;
}
