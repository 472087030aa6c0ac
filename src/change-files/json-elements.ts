import { endOfValue, skipSpace } from '../shared/json-text.ts';
import { broken, type ProblemList } from './problems.ts';
import { countLineEnds, maxRow } from './text.ts';

/** A JSON value as written, with its place: the line on which it begins, or the number of the item. */
export interface JsonElement {
  readonly text: string;
  readonly line: number;
}

/**
 * Splits a JSON array into its elements without parsing them, so that neither the array nor its text is ever held as a
 * whole. The next element is found even if an element is broken.
 *
 * A place is a line number. If the second element begins on the same line as the first, a place is the number of the
 * element, from 1.
 */
export class ArrayElements {
  /** The unread rest begins at `#at`, on line `#line`. */
  #text = '';
  #at = 0;
  #line = 1;
  #count = 0;
  /** Whether places are known to be lines. */
  #hasLines = false;
  #state: 'before' | 'first' | 'element' | 'separator' | 'after';

  /** @param bare whether the elements have no brackets around them */
  constructor(
    private readonly faults: ProblemList,
    private readonly bare: boolean,
  ) {
    this.#state = bare ? 'first' : 'before';
  }

  /**
   * Yields the elements that end in the text so far.
   * @throws BrokenFileError if the rest can't be understood
   */
  *read(piece: string, isLast: boolean): Generator<JsonElement> {
    this.#text = this.#text.slice(this.#at) + piece;
    this.#at = 0;
    for (;;) {
      this.#advance(skipSpace(this.#text, this.#at));
      if (this.#at >= this.#text.length) break;
      if (!this.#beginsElement()) continue;
      const end = endOfValue(this.#text, this.#at);
      if (end === undefined || !this.#choosesUnit(end, isLast)) break;
      yield { text: this.#text.slice(this.#at, end), line: this.#place() };
      this.#count += 1;
      this.#state = 'separator';
      this.#advance(end);
    }
    const isOpen = this.#at < this.#text.length;
    if (isLast && isOpen) this.#broken('the file breaks off: the value that begins here is not closed');
    if (isLast && this.#state !== 'after' && !this.bare) this.#broken('the file breaks off: the list is not closed');
    if (this.#text.length - this.#at > maxRow) {
      this.#broken('the value that begins here is longer than a megabyte: a bracket or a quote is probably not closed');
    }
  }

  /**
   * Reads a bracket or a comma.
   * @returns true if an element begins here instead
   */
  #beginsElement(): boolean {
    const token = this.#text[this.#at];
    if (this.#state === 'after') this.#broken('there is more text after the end of the list');
    if (this.#state === 'before') return this.#take('first');
    if (token === ']' && !this.bare) {
      if (this.#state === 'element') this.#fault('there is a comma after the last item of the list');
      return this.#take('after');
    }
    if (token === ',') {
      if (this.#state !== 'separator') this.#fault('there is an extra comma');
      return this.#take('element');
    }
    if (this.#state === 'separator') this.#fault('a comma is missing before this');
    this.#state = 'element';
    return true;
  }

  #take(state: 'first' | 'element' | 'after'): false {
    this.#at += 1;
    this.#state = state;
    return false;
  }

  /**
   * Chooses the unit of places by the text after the first element, which ends at `end`.
   * @returns false if that needs more text
   */
  #choosesUnit(end: number, isLast: boolean): boolean {
    if (this.#count > 0 || this.#hasLines) return true;
    const comma = skipSpace(this.#text, end);
    const next = this.#text[comma] === ',' ? skipSpace(this.#text, comma + 1) : comma;
    if (next >= this.#text.length && !isLast) return false;
    const isFollowed = next < this.#text.length && (this.bare || this.#text[next] !== ']');
    if (isFollowed && countLineEnds(this.#text, this.#at, next) === 0) this.faults.unit = 'item';
    return true;
  }

  /** Returns the place of the element that begins or is missing here. */
  #place(): number {
    return this.faults.unit === 'item' ? this.#count + 1 : this.#line;
  }

  #advance(at: number): void {
    if (at > this.#at) this.#line += countLineEnds(this.#text, this.#at, at);
    this.#at = at;
  }

  #fault(message: string): void {
    this.#hasLines ||= this.#count === 0;
    this.faults.add({ line: this.#place(), message });
  }

  #broken(message: string): never {
    return broken(this.#place(), message);
  }
}

/** Splits NDJSON into its lines. Skips blank lines. */
export class JsonLines {
  #text = '';
  #line = 1;

  *read(piece: string, isLast: boolean): Generator<JsonElement> {
    // In NDJSON, neither strings nor the text between values contain a line end.
    const lines = (this.#text + piece).split(/\r\n?|\n/);
    this.#text = isLast ? '' : (lines.pop() ?? '');
    for (const line of lines) {
      const start = skipSpace(line, 0);
      if (start < line.length) yield { text: line.slice(start).trimEnd(), line: this.#line };
      this.#line += 1;
    }
    if (this.#text.length > maxRow) broken(this.#line, 'the line is longer than a megabyte');
  }
}
