import { endOfValue, skipSpace } from '../shared/json-text.ts';
import { broken, type ProblemList } from './problems.ts';
import { countLineEnds } from './text.ts';

/** A JSON value as written, with its place: the line on which it begins, or the number of the item. */
export interface JsonElement {
  readonly text: string;
  readonly line: number;
}

/**
 * Splits a JSON array into its elements without parsing them, so that each has a place, and the next element is found
 * even if an element is broken.
 *
 * A place is a line number. If the second element begins on the same line as the first, a place is the number of the
 * element, from 1.
 */
export class ArrayElements {
  #at = 0;
  #line = 1;
  #count = 0;
  /** Whether places are known to be lines, because a fault before the first element has one. */
  #hasLines = false;
  #state: 'first' | 'element' | 'separator' = 'first';

  /** @param bare whether the elements have no brackets around them */
  constructor(
    private readonly text: string,
    private readonly faults: ProblemList,
    private readonly bare: boolean,
  ) {}

  /** @throws BrokenFileError if the rest can't be understood */
  *read(): Generator<JsonElement> {
    const { text, faults, bare } = this;
    this.#advance(0);
    if (!bare) this.#advance(this.#at + 1);
    while (this.#at < text.length && (bare || text[this.#at] !== ']')) {
      if (!this.#beginsElement()) continue;
      const end = endOfValue(text, this.#at);
      if (end === undefined) this.#broken('the file breaks off: the value that begins here is not closed');
      if (this.#count === 0 && !this.#hasLines && isFollowedOnLine(text, this.#at, end, bare)) faults.unit = 'item';
      yield { text: text.slice(this.#at, end), line: this.#place() };
      this.#count += 1;
      this.#state = 'separator';
      this.#advance(end);
    }
    if (!bare) this.#close();
  }

  /**
   * Reads a comma, if there is one.
   * @returns whether an element begins here instead
   */
  #beginsElement(): boolean {
    const isComma = this.text[this.#at] === ',';
    if (isComma && this.#state !== 'separator') this.#fault('there is an extra comma');
    if (!isComma && this.#state === 'separator') this.#fault('a comma is missing before this');
    this.#state = 'element';
    if (isComma) this.#advance(this.#at + 1);
    return !isComma;
  }

  #close(): void {
    if (this.#at >= this.text.length) this.#broken('the file breaks off: the list is not closed');
    if (this.#state === 'element') this.#fault('there is a comma after the last item of the list');
    this.#advance(this.#at + 1);
    if (this.#at < this.text.length) this.#broken('there is more text after the end of the list');
  }

  /** Returns the place of the element that begins or is missing here. */
  #place(): number {
    return this.faults.unit === 'item' ? this.#count + 1 : this.#line;
  }

  /** Goes on after the white space at `from`. */
  #advance(from: number): void {
    const at = skipSpace(this.text, from);
    if (at > this.#at) this.#line += countLineEnds(this.text, this.#at, at);
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

/** Reports whether an element that ends at `end` and begins at `start` is followed by another one on the same line. */
function isFollowedOnLine(text: string, start: number, end: number, bare: boolean): boolean {
  const comma = skipSpace(text, end);
  const next = text[comma] === ',' ? skipSpace(text, comma + 1) : comma;
  const isFollowed = next < text.length && (bare || text[next] !== ']');
  return isFollowed && countLineEnds(text, start, next) === 0;
}

/** Splits NDJSON into its lines. Skips blank lines. */
export function* jsonLines(text: string): Generator<JsonElement> {
  // In NDJSON, neither strings nor the text between values contain a line end.
  for (const [index, line] of text.split(/\r\n?|\n/).entries()) {
    const start = skipSpace(line, 0);
    if (start < line.length) yield { text: line.slice(start).trimEnd(), line: index + 1 };
  }
}
