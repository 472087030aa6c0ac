import { broken } from '../fault.ts';
import { FieldNames } from '../field-names.ts';
import { countLineEnds, longestRow } from '../lines.ts';
import { declaredDelimiter, delimiterOf } from './dialect.ts';
import { lineEndLength, scanRecord } from './record.ts';

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
