import { broken, type FaultList } from './fault.ts';
import { countLineEnds, longestRow, type RowReader } from './text.ts';

/** Called for one JSON value, as it is written, with its place: the line on which it begins, or its number. */
type OnElement = (text: string, line: number) => void;

/**
 * Cuts a JSON array into its elements without looking at what is in them, so that neither the array nor the text of it
 * is ever there as a whole. Where an element is broken the next one is still found.
 *
 * Places are lines. Where the second element begins on the line of the first, the line says nothing: then places are
 * the numbers of the elements, from 1.
 */
export class ArrayElements implements RowReader {
  #text = '';
  #at = 0;
  #line = 1;
  /** Elements that have begun. */
  #count = 0;
  /** A place was reported before the first element: it was a line, and so are the others. */
  #hasPlaces = false;
  /** The first element, until it is known what places count. */
  #first: { readonly text: string; readonly line: number } | undefined;
  #state: 'before' | 'first' | 'element' | 'separator' | 'after';

  /** @param bare whether it is the elements alone, without the brackets */
  constructor(
    private readonly faults: FaultList,
    private readonly onElement: OnElement,
    private readonly bare: boolean,
  ) {
    this.#state = bare ? 'first' : 'before';
  }

  write(text: string): void {
    this.#text = this.#text.slice(this.#at) + text;
    this.#at = 0;
    while (this.#next()) {}
    if (this.#text.length - this.#at > longestRow) {
      this.#broken('what begins here is longer than a megabyte: a bracket or a quote is probably not closed');
    }
  }

  end(): void {
    if (this.#text.length > this.#at) this.#broken('the file breaks off: what begins here is not closed');
    if (this.#state !== 'after' && !this.bare) this.#broken('the file breaks off: the list is not closed');
    this.#handOnFirst({ isFollowed: false });
  }

  /** Takes one token. @returns false where there is no whole one */
  #next(): boolean {
    this.#advance(skipSpace(this.#text, this.#at));
    const token = this.#text[this.#at];
    if (token === undefined) return false;
    if (this.#state === 'after') this.#broken('there is something after the end of the list');
    if (this.#state === 'before') return this.#take('first');
    if (token === ']' && !this.bare) {
      if (this.#state === 'element')
        this.#fault('there is a comma before the end of the list, and nothing after it', false);
      return this.#take('after');
    }
    if (this.#state === 'separator') {
      if (token === ',') return this.#take('element');
      this.#fault('a comma is missing before this');
    } else if (token === ',') {
      this.#fault('there is a comma too many');
      return this.#take('element');
    }
    return this.#takeElement();
  }

  #takeElement(): boolean {
    this.#state = 'element';
    if (this.#count > 0) this.#handOnFirst({ isFollowed: true });
    const end = endOfValue(this.#text, this.#at);
    if (end === undefined) return false;
    const text = this.#text.slice(this.#at, end);
    if (this.#count === 0) this.#first = { text, line: this.#line };
    else this.onElement(text, this.#place());
    this.#count += 1;
    this.#advance(end);
    this.#state = 'separator';
    return true;
  }

  /** @param isFollowed whether what comes now is an element, or a comma in the place of one */
  #handOnFirst({ isFollowed }: { readonly isFollowed: boolean }): void {
    const first = this.#first;
    if (first === undefined) return;
    this.#first = undefined;
    if (isFollowed && this.#line === first.line && !this.#hasPlaces) this.faults.unit = 'item';
    this.onElement(first.text, this.faults.unit === 'item' ? 1 : first.line);
  }

  /** Of the element that begins here, or is missing here. */
  #place(): number {
    return this.faults.unit === 'item' ? this.#count + 1 : this.#line;
  }

  #take(state: 'first' | 'element' | 'after'): true {
    this.#at += 1;
    this.#state = state;
    return true;
  }

  #advance(at: number): void {
    if (at > this.#at) this.#line += countLineEnds(this.#text, this.#at, at);
    this.#at = at;
  }

  #fault(message: string, isFollowed = true): void {
    this.#handOnFirst({ isFollowed });
    this.#hasPlaces = true;
    this.faults.add({ line: this.#place(), message });
  }

  #broken(message: string): never {
    this.#handOnFirst({ isFollowed: false });
    return broken(this.#place(), message);
  }
}

/** Cuts NDJSON into its lines; blank ones are passed over. */
export class JsonLines implements RowReader {
  #text = '';
  #line = 1;

  constructor(private readonly onElement: OnElement) {}

  write(text: string): void {
    // JSON has no line end inside of a text, and between its parts NDJSON has none either.
    const lines = (this.#text + text).split(/\r\n?|\n/);
    this.#text = lines.pop() ?? '';
    for (const line of lines) this.#take(line);
    if (this.#text.length > longestRow) broken(this.#line, 'the line is longer than a megabyte');
  }

  end(): void {
    this.#take(this.#text);
  }

  #take(line: string): void {
    const start = skipSpace(line, 0);
    if (start < line.length) this.onElement(line.slice(start).trimEnd(), this.#line);
    this.#line += 1;
  }
}

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** After the white space that begins at `start`. */
export function skipSpace(text: string, start: number): number {
  let at = start;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    at += 1;
  }
}

/**
 * Where the value that begins at `start` has ended, as far as quotes and brackets tell; what no value begins with ends
 * before a comma, a bracket, a quote or white space. Undefined where the text ends first.
 */
export function endOfValue(text: string, start: number): number | undefined {
  const first = text.charCodeAt(start);
  if (first === quote) return endOfString(text, start);
  if (first === openBrace || first === openBracket) return endOfNested(text, start);
  for (let at = start + 1; at < text.length; at += 1) {
    if (',[]{}" \n\r\t'.includes(text.charAt(at))) return at;
  }
  return undefined;
}

/** After the closing quote of the string that opens at `start`. */
export function endOfString(text: string, start: number): number | undefined {
  let at = text.indexOf('"', start + 1);
  while (at !== -1) {
    let before = at - 1;
    while (text.charCodeAt(before) === backslash) before -= 1;
    // Of an even number of backslashes each is the escape of another, and none that of the quote.
    if ((at - before) % 2 === 1) return at + 1;
    at = text.indexOf('"', at + 1);
  }
  return undefined;
}

function endOfNested(text: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === openBrace || code === openBracket) {
      depth += 1;
    } else if (code === closeBrace || code === closeBracket) {
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (code === quote) {
      const end = endOfString(text, at);
      if (end === undefined) return undefined;
      at = end - 1;
    }
  }
  return undefined;
}
